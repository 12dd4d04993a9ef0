from tried.architecture import ArchitectureFingerprint
from tried.pool.record import ExperimentRecord
from tried.ranking.bag import FIELD_LIMIT, bag_of


def test_each_field_counts_with_its_weight() -> None:
    record = ExperimentRecord.model_validate(
        {
            "id": "identity",
            "name": "alpha",
            "hypothesis": "beta",
            "conclusion": {"headline": "gamma", "outcome": "crashed", "detail": "unseen"},
            "generated_headline": "unseen",
            "tags": ["delta", "twoWords"],
            "pipeline_summary": "epsilon",
            "derivation": {"summary": "zeta", "from": "unseen"},
            "notes": "eta",
            "research_line": "theta",
            "params": {"iota": "unseen", "optimizer.lr": {"unseen": 1}},
            "metrics": {"kappa": 0.5},
            "architecture": {"digest": "unseen", "nodes": {"unseen": "filter:Mu", "other": "filter:Mu"}},
            "source": "unseen",
            "run_id": "unseen",
        }
    )
    assert bag_of(record) == {
        **dict.fromkeys(("alpha", "beta"), 3),
        **dict.fromkeys(("gamma", "delta", "two", "words", "epsilon", "zeta"), 2),
        **dict.fromkeys(("eta", "theta", "iota", "optimizer", "lr", "kappa"), 1),
        **dict.fromkeys(("filter", "mu"), 2),  # one each of two nodes
    }


def test_a_word_in_several_fields_adds_up() -> None:
    record = ExperimentRecord(id="r", name="dropout", notes="dropout, dropout", tags=["dropout"])
    assert bag_of(record) == {"dropout": 3 + 2 + 2}


def test_a_generated_headline_is_found_where_nobody_wrote_one() -> None:
    assert bag_of(ExperimentRecord(id="r", generated_headline="diverged")) == {"diverged": 2}


def test_an_empty_record_has_an_empty_bag() -> None:
    assert bag_of(ExperimentRecord(id="r", architecture=ArchitectureFingerprint())) == {}


def test_a_log_in_the_notes_is_cut() -> None:
    record = ExperimentRecord(id="r", notes="loss " * 2_000_000, tags=["x" * (FIELD_LIMIT + 7)])
    bag = bag_of(record)
    assert bag.pop("x" * FIELD_LIMIT) == 2
    assert bag == {"loss": FIELD_LIMIT // len("loss ")}
