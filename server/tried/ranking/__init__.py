"""Ranking: which records bear on a draft, and why each stands where it does."""

from tried.architecture import ArchitectureFingerprint, structural_similarity
from tried.pool.outcome import importance, is_dead_end
from tried.ranking.breakdown import ScoreComponents, ScoredRecord, Term
from tried.ranking.embedding import Embedder, embedding_text
from tried.ranking.hits import NO_HITS, Hit, Hits
from tried.ranking.index import RankingIndex
from tried.ranking.policy import (
    DEFAULT_HALF_LIFE_DAYS,
    DEFAULT_POLICY,
    PRESETS,
    STEADY,
    DecayPenalty,
    HitBoost,
    LexicalBonus,
    Policy,
    PolicyError,
    Weights,
)
from tried.ranking.query import RetrievalQuery
from tried.ranking.rank import rank
from tried.ranking.signals import recency
from tried.ranking.tokenizer import tokenize

__all__ = [
    "DEFAULT_HALF_LIFE_DAYS",
    "DEFAULT_POLICY",
    "NO_HITS",
    "PRESETS",
    "STEADY",
    "ArchitectureFingerprint",
    "DecayPenalty",
    "Embedder",
    "Hit",
    "HitBoost",
    "Hits",
    "LexicalBonus",
    "Policy",
    "PolicyError",
    "RankingIndex",
    "RetrievalQuery",
    "ScoreComponents",
    "ScoredRecord",
    "Term",
    "Weights",
    "embedding_text",
    "importance",
    "is_dead_end",
    "rank",
    "recency",
    "structural_similarity",
    "tokenize",
]
