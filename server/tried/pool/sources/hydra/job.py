"""One Hydra job: `.hydra/{config,overrides,hydra}.yaml` in its output folder, its log, and metrics that it left there.

Hydra writes down neither how a job ended nor its exception. So the log tells of a bad end (`run_log`), results in a
file tell of a good one, and of a job that left neither nobody knows. `job_return.pickle` is never opened.

Invariant: the saved config is read unresolved; what only the program can resolve is an unknown value.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from tried.draft.keys import normalise_key
from tried.draft.prose import LINE_KEYS, named_value
from tried.pool.sources.common.json_parts import list_in, mapping_in, own_labels
from tried.pool.sources.common.logged_metrics import Logged, metrics_in_csv, metrics_in_json, metrics_in_trainer_state
from tried.pool.sources.common.run_files import FolderReader, Unreadable, modified, moment_of, names_in, start_of
from tried.pool.sources.common.run_log import TAIL_LIMIT, ending_in, tail_of
from tried.pool.sources.tracked_run import Status, TrackedRun

RESULT_FILES: Final = (
    *("metrics.json", "results.json", "result.json", "all_results.json", "eval_results.json", "test_results.json"),
    *("test_metrics.json", "scores.json"),
)
"""What a job writes when it is through."""

HISTORY_FILES: Final = ("metrics.csv", "results.csv", "log.csv")
"""What a job writes as it goes."""

TRAINER_STATE: Final = "trainer_state.json"
"""The same, of Hugging Face's Trainer."""

LOGGER_FOLDERS: Final = ("lightning_logs", "csv", "csv_logs")
"""Folders in which Lightning's `version_N` are looked for."""

NAME_LIMIT: Final = 100
OVERRIDE_LIMIT: Final = 200

_IN = r"^  {}:\n(?:    .*\n)*?    {}: (.*)$"
_LINES: Final = {
    "mode": re.compile(r"^  mode: (.*)$", re.MULTILINE),
    "job.name": re.compile(_IN.format("job", "name"), re.MULTILINE),
    "runtime.output_dir": re.compile(_IN.format("runtime", "output_dir"), re.MULTILINE),
    "launcher._target_": re.compile(_IN.format("launcher", "_target_"), re.MULTILINE),
}
"""Lines of a `hydra.yaml` as Hydra writes it, two blanks a level."""

_CONFIG_LIMIT: Final = 4 * 1024 * 1024
_FOLDER_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)[/_ T-]+(\d\d)[-_:](\d\d)[-_:](\d\d)")
_LINE_TIME = re.compile(r"^\[?(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)", re.MULTILINE)
_ZONES: Final = timedelta(hours=14)
_LOG_END: Final = 4_096
_QUARTER: Final = timedelta(minutes=15)
_TESTED = re.compile(r"(?:test|final)[._/-]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HydraSettings:
    """What `hydra.yaml` says of a job; None or empty where it does not."""

    job_name: str | None = None
    output_dir: str | None = None
    mode: str | None = None
    launcher: str | None = None


def read_job(job: FolderReader, native_id: str, sweep: str | None) -> TrackedRun:
    """The run of a job's folder. `native_id` and `sweep` are what the record and its search are called."""
    folder = job.folder
    config = job.yaml(".hydra/config.yaml", _CONFIG_LIMIT)
    params, labels = own_labels(mapping_in(config))
    overrides = [
        str(each)[:OVERRIDE_LIMIT]
        for each in list_in(job.yaml(".hydra/overrides.yaml", _CONFIG_LIMIT))
        if not _is_hydras(each)
    ]
    settings = settings_of(job)
    names = job.names()
    log = _log_of(folder, names, settings)
    text = tail_of(log) if log is not None else ""
    error = ending_in(text)
    logged = _history(job, names).joined(_results(job, names))
    status: Status | None = "finished" if is_through(logged, params) and error is None else None
    times = _times(job.key, folder, _moments_in(log, text), names)
    more: dict[str, Any] = {"overrides": overrides} if overrides else {}
    if settings.launcher is not None and settings.launcher != "basic":
        more["launcher"] = settings.launcher
    return TrackedRun(
        kind="hydra",
        native_id=native_id,
        name=_name(settings.job_name, overrides),
        status=status,
        params=params,
        labels=labels,
        metrics=logged.values,
        nonfinite=logged.nonfinite,
        started=times.started,
        ended=times.last_written if status == "finished" or error else None,
        last_written=times.last_written,
        seconds=times.seconds,
        error=error,
        tags=[str(tag) for tag in list_in(params.get("tags")) if isinstance(tag, str)],
        experiment=settings.job_name,
        research_line=_line_in(params),
        sweep=sweep,
        folder=settings.output_dir or str(folder),
        places=[str(folder)],
        more=more,
    )


def files_of(folder: Path) -> Iterator[Path]:
    """The histories that loggers keep below a job's folder; what is directly in it is seen by its listing."""
    for name in LOGGER_FOLDERS:
        for version in names_in(folder / name):
            if version.startswith("version_"):
                yield folder / name / version / "metrics.csv"


def settings_of(job: FolderReader) -> HydraSettings:
    """What is used of `hydra.yaml`, which is long: the lines that say it, as Hydra writes them."""
    said = _values_in(job.text(".hydra/hydra.yaml", _CONFIG_LIMIT) or "")
    output = said.get("runtime.output_dir")
    absolute = output is not None and "${" not in output and os.path.isabs(output)  # noqa: PTH117
    return HydraSettings(
        said.get("job.name"),
        os.path.normpath(output) if output is not None and absolute else None,
        said.get("mode"),
        _plugin(said.get("launcher._target_")),
    )


def output_folder_of(folder: Path) -> str | None:
    """The output folder as the job in it knew it, None where it does not say."""
    return settings_of(FolderReader(folder, "")).output_dir


def is_through(logged: Logged, params: Mapping[str, Any]) -> bool | None:
    """Whether a training came to its end, as far as what it logged tells; None where it does not.

    It reached, or did not reach, the last epoch that its config asks for; or it was tested once after a training of
    more steps; or it wrote results that are no history.
    """
    last = logged.last_step.get("epoch")
    trainer = params.get("trainer")
    wanted = (trainer if isinstance(trainer, dict) else {}).get("max_epochs", params.get("max_epochs"))
    if last is not None and isinstance(wanted, int) and not isinstance(wanted, bool) and wanted > 0:
        return wanted <= last + 1
    once = any(times == 1 and _TESTED.match(name) for name, times in logged.times.items())
    if once and any(times > 1 for times in logged.times.values()):
        return True
    return None if logged.history else True


def _values_in(text: str) -> dict[str, str]:
    """What the lines that are looked for say, by dotted path."""
    found = {name: match[1].strip() for name, line in _LINES.items() if (match := line.search(text)) is not None}
    return {name: _unquoted(value) for name, value in found.items() if value not in ("", "null", "~", "???", "''")}


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value


def _plugin(target: str | None) -> str | None:
    """`hydra_plugins.hydra_submitit_launcher.submitit_launcher.SlurmLauncher` → `slurm`."""
    if target is None:
        return None
    return target.rsplit(".", 1)[-1].removesuffix("Launcher").lower() or None


def _name(job_name: str | None, overrides: Sequence[str]) -> str:
    name = " ".join([job_name or "job", *overrides])
    return name if len(name) <= NAME_LIMIT else f"{name[: NAME_LIMIT - 1]}…"


def _line_in(params: Mapping[str, Any]) -> str | None:
    """The research line that the config itself names, by the keys by which a draft does."""
    plain = {normalise_key(key): value for key, value in params.items() if isinstance(value, str | int)}
    return next((name for key in LINE_KEYS if (name := named_value(plain.get(key)))), None)


def _is_hydras(override: Any) -> bool:
    return not isinstance(override, str) or override.lstrip("+~").startswith(("hydra.", "hydra/"))


def _log_of(folder: Path, names: Sequence[str], settings: HydraSettings) -> Path | None:
    """The job's own log, else the only one that there is."""
    logs = [name for name in names if name.endswith(".log")]
    own = f"{settings.job_name}.log"
    if own in logs:
        return folder / own
    return folder / logs[0] if len(logs) == 1 else None


def _results(job: FolderReader, names: Sequence[str]) -> Logged:
    found = Logged()
    for name in RESULT_FILES:
        if name in names:
            found = (job.read(name, metrics_in_json) or Logged()).joined(found)
    return found


def _history(job: FolderReader, names: Sequence[str]) -> Logged:
    found = Logged()
    files = [name for name in HISTORY_FILES if name in names]
    if any(name in names for name in LOGGER_FOLDERS):
        files += [path.relative_to(job.folder).as_posix() for path in files_of(job.folder)]
    for name in files:
        found = found.joined(job.read(name, metrics_in_csv) or Logged())
    if TRAINER_STATE in names:
        found = found.joined(job.read(TRAINER_STATE, metrics_in_trainer_state) or Logged())
    return found


@dataclass(frozen=True, slots=True)
class _Times:
    started: datetime | None
    last_written: datetime | None
    seconds: float | None


def _moments_in(log: Path | None, text: str) -> list[datetime]:
    """The times of the first and the last line of a log that have one; `text` is its end."""
    head = text
    if log is not None and len(text) > TAIL_LIMIT // 2:
        with contextlib.suppress(Unreadable):
            head = (start_of(log, _LOG_END) or b"").decode("utf-8", "replace")
    ends = (_LINE_TIME.findall(head[:_LOG_END])[:1], _LINE_TIME.findall(text[-_LOG_END:])[-1:])
    return [moment for end in ends for match in end if (moment := _moment(match)) is not None]


def _times(key: str, folder: Path, lines: Sequence[datetime], names: Sequence[str]) -> _Times:
    """When it began and when it last wrote.

    Names of folders and lines of logs are in the local time of a machine that may be another one, files carry their
    time unless they were copied: so a file's time counts where it is the local time in some time zone.
    """
    saved = moment_of(modified(folder / ".hydra" / "config.yaml"))
    written = moment_of(max((time for name in names if (time := modified(folder / name)) is not None), default=None))
    if saved is not None and (written is None or written < saved):
        written = saved
    named = [moment for match in _FOLDER_TIME.findall(key) if (moment := _moment(match)) is not None]
    local = named[-1] if named else (lines[0] if lines else None)
    seconds = (lines[-1] - lines[0]).total_seconds() if len(lines) > 1 else None
    if local is None:
        return _Times(saved, written, seconds)
    if saved is None or not _is_same_moment(lines[0] if lines and lines[0] >= local else local, saved):
        return _Times(lines[0] if lines and lines[0] >= local else local, written, seconds)
    if written is not None and written > saved:
        seconds = max(seconds or 0.0, (written - saved).total_seconds())
    return _Times(saved, written, seconds)


def _is_same_moment(local: datetime, moment: datetime) -> bool:
    """Whether a local time can be this moment: they are a time zone and at most two minutes apart."""
    apart = moment - local
    if abs(apart) > _ZONES + timedelta(minutes=2):
        return False
    rest = (apart + timedelta(minutes=2)) % _QUARTER
    return rest <= timedelta(minutes=4)


def _moment(parts: Sequence[str]) -> datetime | None:
    try:
        year, month, day, hour, minute, second = map(int, parts)
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
