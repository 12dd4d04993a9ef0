"""`tried check`: findings of config files, as a linter tells them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from tried.analysis import Analysis
from tried.cli.failure import Failure
from tried.cli.files import config_files_in, must_exist, read_config
from tried.cli.options import (
    AsJson,
    Now,
    Pools,
    empty_pool_advice,
    folder_of,
    now_from,
    open_workspace,
    tell_of_unknown_line,
    tell_of_unread,
)
from tried.cli.output import complain, console, line_of, write_json
from tried.draft.entries import Problem
from tried.findings.finding import Finding, Severity
from tried.render.escape import plain
from tried.render.reports import CheckedFile, check_report
from tried.render.words import counted
from tried.settings import has_settings
from tried.text import LineIndex
from tried.workspace import Workspace

DIRECTIVE = "directive"
STYLES: dict[Severity, str] = {"warning": "bold yellow", "information": "bold blue", "hover": "dim"}


def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", show_default=False, help="Config files or folders.")],
    pools: Pools = None,
    research_line: Annotated[
        str | None,
        typer.Option("--research-line", metavar="LINE", help="That of configs which do not name theirs."),
    ] = None,
    now: Now = None,
    as_json: AsJson = False,
    hover: Annotated[
        bool, typer.Option("--hover", help="Also what an editor shows only when the pointer rests on the place.")
    ] = False,
) -> int:
    """Say what a config repeats. Exit status 1 if a warning stands, 2 on an error."""
    checked = _Checked(pools, research_line, now_from(now))
    for path in files:
        found = False
        for file, named in config_files_in([path]):
            checked.add(file, named)
            found = True
        if not found:
            complain(f"{path}: holds no file of a config language (YAML, JSON, TOML, Python, .env, shell)")
    if as_json:
        write_json(check_report(checked.files))
    else:
        _print(checked, hover)
    if checked.failed:
        return 2
    return 1 if checked.counts["warning"] else 0


@dataclass
class _Checked:
    pools: list[Path] | None
    research_line: str | None
    now: datetime
    files: list[CheckedFile] = field(default_factory=list)
    remarks: dict[str, str] = field(default_factory=dict)
    mistakes: dict[str, tuple[Problem, ...]] = field(default_factory=dict)
    workspaces: dict[Path, Workspace] = field(default_factory=dict)
    failed: bool = False

    @property
    def counts(self) -> Counter[str]:
        return Counter(finding.severity for file in self.files for finding in file.findings)

    def add(self, path: Path, named: bool) -> None:
        try:
            must_exist(path)
        except Failure as failure:
            self._fail(failure)
            return
        workspace = self._workspace(path)
        try:
            text = read_config(path, workspace.settings)
        except Failure as failure:
            self._fail(failure)
            return
        analysis = workspace.analyse(text, path.absolute(), None, self.now, ranked=False)
        self.files.append(CheckedFile(str(path), text, analysis.is_config, analysis.findings))
        self.mistakes[str(path)] = analysis.mistakes
        if named and not analysis.is_config:
            self.remarks[str(path)] = _why_not(analysis)

    def _fail(self, failure: Failure) -> None:
        self.failed = True
        complain(str(failure))

    def _workspace(self, path: Path) -> Workspace:
        folder = folder_of(path)
        if self.pools and not has_settings(folder):
            folder = Path.cwd()  # the pool is the same for all of them, and is to be read once
        if folder not in self.workspaces:
            overrides: dict[str, object] = {"research_line": self.research_line} if self.research_line else {}
            self.workspaces[folder] = open_workspace(folder, self.pools, overrides)
            tell_of_unread(self.workspaces[folder], self.pools)
            tell_of_unknown_line(self.workspaces[folder])
            if not self.workspaces[folder].snapshot:
                complain(empty_pool_advice(self.workspaces[folder], self.pools))
            self.workspaces[folder].calibrate()
        return self.workspaces[folder]


def _why_not(analysis: Analysis) -> str:
    if analysis.passed_over:
        return f"not looked at: {analysis.passed_over}"
    return "does not look like an experiment config (config.include in tried.toml makes it one)"


def _print(checked: _Checked, hover: bool) -> None:
    out = console()
    for file in checked.files:
        if remark := checked.remarks.get(file.path):
            out.print(line_of((plain(file.path), "bold"), f": {remark}"))
        shown = [finding for finding in file.findings if hover or finding.severity != "hover"]
        _print_findings(file, shown, checked.mistakes[file.path])
    if not checked.files:
        return
    configs = sum(file.is_config for file in checked.files)
    told = [
        counted(checked.counts["warning"], "warning"),
        counted(checked.counts["information"], "information", "informations"),
        f"{checked.counts['hover']:,} for the hover",
    ]
    records = sum(len(workspace.snapshot) for workspace in checked.workspaces.values())
    out.print(line_of(f"{counted(configs, 'config')}, {counted(records, 'past run')}: {', '.join(told)}"))
    for workspace in checked.workspaces.values():
        if calibration := workspace.calibration:
            quiet = ", ".join(f"{kind} (right {t.ended_badly} of {t.flagged})" for kind, t in calibration.quiet.items())
            out.print(line_of(f"only for the hover, as this pool bears out too little of it: {quiet}"))


def _print_findings(file: CheckedFile, findings: Iterable[Finding], mistakes: Iterable[Problem]) -> None:
    """Findings and mistaken directives in the order of the text."""
    told = [(f.span.start, str(f.severity), STYLES.get(f.severity, ""), str(f.code), f.message) for f in findings]
    told += [(mistake.span.start, "note", "dim", DIRECTIVE, mistake.message) for mistake in mistakes]
    out, lines = console(), LineIndex(file.text)
    for start, loudness, style, code, message in sorted(told, key=lambda one: one[0]):
        line, column = lines.position(start)
        out.print(
            line_of(
                (f"{plain(file.path)}:{line + 1}:{column + 1}", "bold"),
                ": ",
                (loudness, style),
                f" {code}: {plain(message)}",
            )
        )
