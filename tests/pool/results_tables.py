"""Results tables as tests write them, and what is read of them."""

from pathlib import Path

from tried.pool.record import ExperimentRecord
from tried.pool.sources.source import Delta
from tried.pool.sources.tables.results_table import ResultsTableSource

HEADER = "commit\tval_bpb\tmemory_gb\tstatus\tdescription"
BASIC = f"""{HEADER}
c24aaaa\t1.450\t2.1\tkeep\tbaseline
66fbbbb\t1.453\t2.1\tdiscard\tincrease EMBED_LR to 0.8
caf1111\t1.440\t2.2\tkeep\tDEPTH 4->5
89e464\t1.460\t2.2\trevert\tDEPTH 5->6
de00000\t0.000000\t0.0\tcrash\tDEPTH=16 (OOM)
"""


def scan(tmp_path: Path, text: str, name: str = "results.tsv") -> Delta:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return ResultsTableSource(path, tmp_path).scan(None)


def rows(tmp_path: Path, text: str, name: str = "results.tsv") -> list[ExperimentRecord]:
    return list(scan(tmp_path, text, name).upserts)
