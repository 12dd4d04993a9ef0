"""Ranking: which records bear on a draft, and why each stands where it does."""

from tried.architecture import ArchitectureFingerprint, structural_similarity
from tried.pool.outcome import importance, is_dead_end
from tried.ranking.breakdown import ScoreComponents, ScoredRecord, Term
from tried.ranking.embedding import Embedder, embedding_text
from tried.ranking.index import RankingIndex
from tried.ranking.policy import DEFAULT_HALF_LIFE_DAYS, DEFAULT_POLICY, Policy
from tried.ranking.query import RetrievalQuery
from tried.ranking.rank import rank
from tried.ranking.signals import recency
from tried.ranking.tokenizer import tokenize

__all__ = [
    "DEFAULT_HALF_LIFE_DAYS",
    "DEFAULT_POLICY",
    "ArchitectureFingerprint",
    "Embedder",
    "Policy",
    "RankingIndex",
    "RetrievalQuery",
    "ScoreComponents",
    "ScoredRecord",
    "Term",
    "embedding_text",
    "importance",
    "is_dead_end",
    "rank",
    "recency",
    "structural_similarity",
    "tokenize",
]
