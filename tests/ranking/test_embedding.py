from collections.abc import Sequence

from tried.pool.record import ExperimentRecord
from tried.ranking import Embedder, embedding_text


def test_the_parts_in_their_order() -> None:
    record = ExperimentRecord.model_validate(
        {
            "id": "r",
            "tags": ["sweep", "v2"],
            "notes": "notes",
            "derivation": {"summary": "moved"},
            "conclusion": {"headline": "headline"},
            "hypothesis": "hypothesis",
            "pipeline_summary": "a → b",
            "name": "name",
            "params": {"lr": 1},
        }
    )
    assert embedding_text(record) == "name — a → b — hypothesis — headline — moved — notes — sweep — v2"


def test_empty_parts_are_dropped() -> None:
    assert embedding_text(ExperimentRecord(id="r", name="name", notes=" ", tags=["", "t"])) == "name — t"
    assert embedding_text(ExperimentRecord(id="r")) == ""


def test_a_generated_headline_is_embedded() -> None:
    assert embedding_text(ExperimentRecord(id="r", generated_headline="diverged")) == "diverged"


class Lengths:
    id = "lengths"

    def embed(self, text: str) -> Sequence[float]:
        return [float(len(text)), 1.0]


def test_any_object_with_an_id_that_embeds_is_an_embedder() -> None:
    embedder: Embedder = Lengths()
    assert embedder.embed(embedding_text(ExperimentRecord(id="r", name="four"))) == [4.0, 1.0]
