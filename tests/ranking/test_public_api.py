import importlib
import subprocess
import sys

import pytest

import tried
import tried.ranking

NAMES = [
    "DEFAULT_HALF_LIFE_DAYS",
    "Embedder",
    "RetrievalQuery",
    "ScoreComponents",
    "ScoredRecord",
    "embedding_text",
    "importance",
    "is_dead_end",
    "rank",
    "recency",
    "tokenize",
]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_the_same_from_both_places(name: str) -> None:
    assert getattr(tried, name) is getattr(tried.ranking, name)
    assert name in tried.__all__
    assert name in dir(tried)


def test_the_function_is_not_hidden_by_its_module() -> None:
    importlib.import_module("tried.ranking.rank")
    from tried.ranking import rank

    assert callable(rank)
    assert callable(tried.rank)


def test_other_names_are_unknown() -> None:
    name = "rnak"
    with pytest.raises(AttributeError, match="no attribute 'rnak'"):
        getattr(tried, name)


def modules_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    return set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())


def test_importing_the_package_loads_nothing() -> None:
    assert not {"numpy", "pydantic", "tried.ranking"} & modules_after("import tried")


def test_the_api_does_without_the_server_and_the_terminal() -> None:
    loaded = modules_after("from tried import rank")
    assert "tried.ranking.rank" in loaded
    assert not {"pygls", "lsprotocol", "typer", "rich"} & loaded
