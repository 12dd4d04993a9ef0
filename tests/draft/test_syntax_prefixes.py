"""While a file is being typed: whatever stands before the last line, and is complete, is read."""

from __future__ import annotations

import pytest
from syntax_checks import LIST, MAPPING, check_invariants, same

from tried.draft.syntax import parse

SAMPLES = {
    "yaml": (
        "# why\nname: try a lower rate\nmodel: &model\n  _target_: nets.ResNet  # the net\n  depth: 50\n"
        "  stages: [3, 4, 6, 3]\n  norm: {kind: batch, eps: 1e-5}\ndata:\n  - name: a\n    size: 1\n"
        "  - name: 'b'\n    size: 2\ntags:\n- x\n- y\nnotes: |\n  first\n  second\nopt: {\n  lr: 0.1,\n"
        '  betas: [0.9, 0.99],\n  wd: 0,\n}\nbase:\n  <<: *model\n  depth: 101\nquoted: "a\n  b"\nlast: 1\n'
        "---\nsecond: 2\nthird: ${x}\n"
    ),
    "json": (
        '// why\n{\n  "name": "try",\n  "model": {\n    "depth": 50,\n    "stages": [3, 4],\n'
        '    "norm": {"eps": 1e-5}\n  },\n  "data": [\n    {"name": "a"},\n    {"name": "b", "x": [[1], [2]]}\n  ],\n'
        '  "last": null\n}\n'
    ),
    "toml": (
        'name = "try"  # why\nstages = [\n  3,\n  4,\n]\n[model]\ndepth = 50\nnorm = {eps = 1e-5}\n'
        'notes = """\nfirst\nsecond\n"""\n[[data]]\nname = \'a\'\n[[data]]\nname = "b"\n[data.opt]\nlr = 0.1\nx.y = 2\n'
    ),
    "python": (
        '"""Why."""\nimport os\n\nLR = 0.1  # rate\nDEPTH: int = 2 * 6\nMODEL = ResNet(\n    depth=50,\n'
        "    stages=[3, 4],\n    norm=BatchNorm(eps=1e-5),\n)\ncfg = {\n    'name': 'a',\n    'opt': {\n"
        "        'lr': 0.2,\n        'betas': (0.9, 0.99),\n    },\n}\n\n\n@dataclass\nclass Args:\n"
        '    wd: float = 0.3\n    steps = int(os.environ.get("STEPS", 100))\n\n    def f(self):\n        return 1\n\n\n'
        "def main():\n    p.add_argument('--seed', default=1)\n    x = 2\n\n\nLAST = 9\n"
    ),
    "env": (
        "#!/bin/bash\n# why\nexport LR=0.1\nNAME='two words'\nDEPTH=4 WIDTH=5 python train.py \\\n  --x 1\n"
        'if [ -z "$X" ]; then\n  X=7\nfi\nSIZES=(1\n  2)\nY=${Z:-3}\ncat <<EOF\nW=1\nEOF\nLAST=9\n'
    ),
}


@pytest.mark.parametrize("language", SAMPLES)
def test_entries_complete_before_the_last_line_survive(language: str) -> None:
    text = SAMPLES[language]
    whole = parse(text, language)
    assert not whole.problems
    scalars = [entry for entry in whole.entries if entry.value not in (MAPPING, LIST)]
    assert len(scalars) > 5
    for end in range(len(text)):
        prefix = text[:end]
        parsed = parse(prefix, language)
        check_invariants(parsed, prefix)
        read = {(entry.document, entry.path): entry for entry in parsed.entries}
        line_start = prefix.rfind("\n") + 1
        for entry in scalars:
            if max(entry.span.end, entry.key.end if entry.key else 0) < line_start:
                found = read.get((entry.document, entry.path))
                assert found is not None, (entry, prefix)
                assert same(found.value, entry.value), (entry, found, prefix)
                assert (found.span, found.key) == (entry.span, entry.key), (entry, found, prefix)


@pytest.mark.parametrize("language", SAMPLES)
def test_a_line_that_is_taken_out_costs_no_entry_of_another(language: str) -> None:
    """Where the rest is still a whole file, or nearly, nothing else than the line is lost."""
    lines = SAMPLES[language].splitlines(keepends=True)
    whole = {str(entry.path[-1]) for entry in parse(SAMPLES[language], language).entries}
    for index in range(len(lines)):
        text = "".join(lines[:index] + lines[index + 1 :])
        parsed = parse(text, language)
        check_invariants(parsed, text)
        read = {entry.path[-1] for entry in parsed.entries}
        expected = {name for name in whole & {"last", "LAST", "second"} if name not in lines[index]}
        assert expected <= read, (index, lines[index])
