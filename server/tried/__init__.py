"""tried: what have I already tried that bears on this experiment?

The names in `__all__` are the public Python API. They are loaded on first use, so that importing the package is free.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tried.ranking import (
        DEFAULT_HALF_LIFE_DAYS,
        Embedder,
        RetrievalQuery,
        ScoreComponents,
        ScoredRecord,
        embedding_text,
        importance,
        is_dead_end,
        rank,
        recency,
        tokenize,
    )

__version__ = "0.1.0"

__all__ = [
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


if not TYPE_CHECKING:  # a type checker that saw this would take any name for granted

    def __getattr__(name: str) -> Any:
        if name in __all__:
            from tried import ranking

            return getattr(ranking, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
