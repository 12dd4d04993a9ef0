"""The ranking formula once more, written apart from the product: plain loops over plain records, no index, no arrays.

Only the judgement of a record's importance is shared, which has tests of its own.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from datetime import datetime, timedelta

from tried.architecture import ArchitectureFingerprint
from tried.pool.outcome import importance
from tried.pool.record import ExperimentRecord
from tried.ranking import RetrievalQuery

CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3040-\u318f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc"
    "\U0001aff0-\U0001b16f\U00020000-\U0002fa1f\U00030000-\U0003347f"
)
CJK_BOUNDS = [(CJK[at], CJK[at + 2]) for at in range(0, len(CJK), 3)]


def naive_tokens(text: str) -> list[str]:
    """A machine that takes one character at a time and knows what came before."""
    text = unicodedata.normalize("NFC", text)
    tokens: list[str] = []
    word: list[str] = []  # characters, each with its marks
    in_cjk = False

    def finish() -> None:
        lowered = ["".join(part.lower() for part in character) for character in word]
        if in_cjk and len(lowered) > 1:
            tokens.extend(lowered[at] + lowered[at + 1] for at in range(len(lowered) - 1))
        elif lowered:
            tokens.append("".join(lowered))
        word.clear()

    for character in text:
        group = unicodedata.category(character)[0]
        if group not in ("L", "M", "N"):
            finish()
            in_cjk = False
        elif group == "M" and word:
            word[-1] += character
        else:
            cjk = group != "M" and any(low <= character <= high for low, high in CJK_BOUNDS)
            if cjk != in_cjk:
                finish()
                in_cjk = cjk
            elif not cjk and word and _case(character) == "upper":
                if _case(word[-1][0]) in ("lower", "number"):
                    finish()
            elif not cjk and _case(character) == "lower" and len(word) > 1:
                last, before = _case(word[-1][0]), _case(word[-2][0])
                if last == before == "upper":
                    head = word.pop()
                    finish()
                    word.append(head)
            word.append(character)
    finish()
    return tokens


def _case(character: str) -> str:
    name = unicodedata.category(character)
    return {"Lu": "upper", "Lt": "upper", "Ll": "lower"}.get(name, "number" if name[0] == "N" else "other")


def naive_words(record: ExperimentRecord) -> list[str]:
    words: list[str] = []
    words += 3 * naive_tokens(record.name)
    words += 3 * naive_tokens(record.hypothesis or "")
    words += 2 * naive_tokens(record.headline)
    for tag in record.tags:
        words += 2 * naive_tokens(tag)
    words += 2 * naive_tokens(record.pipeline_summary)
    words += 2 * naive_tokens((record.derivation.summary or "") if record.derivation else "")
    words += naive_tokens(record.notes or "")
    words += naive_tokens(record.research_line or "")
    for key in [*record.params, *record.metrics]:
        words += naive_tokens(key)
    if record.architecture:
        for token in record.architecture.nodes.values():
            words += naive_tokens(token)
    return words


def naive_jaccard(left: list[str], right: list[str]) -> float:
    union = set(left) | set(right)
    if not union:
        return 1.0
    smaller = sum(min(left.count(token), right.count(token)) for token in union)
    return smaller / sum(max(left.count(token), right.count(token)) for token in union)


def naive_structure(left: ArchitectureFingerprint, right: ArchitectureFingerprint) -> float:
    def edges(graph: ArchitectureFingerprint) -> list[str]:
        return [
            f"{graph.nodes[edge.source]} {edge.kind == 'control'} {graph.nodes[edge.target]}"
            for edge in graph.edges
            if {edge.source, edge.target} <= graph.nodes.keys()
        ]

    nodes = naive_jaccard(list(left.nodes.values()), list(right.nodes.values()))
    return 0.6 * nodes + 0.4 * naive_jaccard(edges(left), edges(right))


def naive_cosine(query: RetrievalQuery, record: ExperimentRecord) -> float | None:
    left = list(query.vector or ())
    right = record.embedding.vector if record.embedding else []
    if not left or record.embedding is None or record.embedding.embedder_id != query.embedder_id:
        return None
    if len(left) != len(right) or not any(left) or not any(right):
        return None
    dot = squares_left = squares_right = 0.0
    for one, other in zip(left, right, strict=True):
        dot += one * other
        squares_left += one * one
        squares_right += other * other
    return min(1.0, max(0.0, dot / math.sqrt(squares_left) / math.sqrt(squares_right)))


def naive_rank(
    query: RetrievalQuery,
    records: Iterable[ExperimentRecord],
    now: datetime,
    weights: tuple[float, float, float, float] = (0.40, 0.25, 0.15, 0.20),
    half_life_days: float = 30.0,
) -> list[tuple[str, float, tuple[float, float, float, float], tuple[float, float, float, float]]]:
    """(id, score, signals, weights in force) of all candidates, best first."""
    candidates = [record for record in records if _passes(query, record, now)]
    bags = [naive_words(record) for record in candidates]
    wanted = naive_tokens(query.text)
    counts = [{word: bag.count(word) for word in wanted} for bag in bags]
    raw: list[float] = []
    for bag, own in zip(bags, counts, strict=True):
        total = 0.0
        for word in wanted:
            tf = own[word]
            if tf:
                df = sum(1 for other in counts if other[word])
                idf = max(0.0, math.log(1.0 + (len(bags) - df + 0.5) / (df + 0.5)))
                average = sum(map(len, bags)) / len(bags)
                total += idf * (tf * (1.2 + 1.0)) / (tf + 1.2 * (1.0 - 0.75 + 0.75 * len(bag) / average))
        raw.append(total)
    best = max(raw, default=0.0)
    cosines = [naive_cosine(query, record) for record in candidates]
    applies = (
        best > 0 or any(cosine is not None for cosine in cosines),
        query.architecture is not None and len(query.architecture.nodes) > 0,
        any(record.time for record in candidates),
        True,
    )
    whole = 0.0
    for weight, on in zip(weights, applies, strict=True):
        whole += weight if on else 0.0
    lexical_weight, structural_weight, recency_weight, importance_weight = (
        weight / whole if on and whole else 0.0 for weight, on in zip(weights, applies, strict=True)
    )
    rows = []
    for record, value, cosine in zip(candidates, raw, cosines, strict=True):
        lexical = value / best if best else 0.0
        if cosine is not None:
            lexical = 0.5 * lexical + 0.5 * cosine
        structural = (
            naive_structure(query.architecture, record.architecture)
            if query.architecture and query.architecture.nodes and record.architecture
            else 0.0
        )
        recency = 0.0
        if record.time:
            age = (now - record.time) / timedelta(days=1)
            recency = 1.0 if age <= 0 or half_life_days <= 0 else math.exp(-math.log(2) * age / half_life_days)
        signals = (lexical, structural, recency, importance(record))
        score = (
            lexical_weight * lexical
            + structural_weight * structural
            + recency_weight * recency
            + importance_weight * signals[3]
        )
        in_force = (lexical_weight, structural_weight, recency_weight, importance_weight)
        rows.append((record.id, score, signals, in_force))
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def _passes(query: RetrievalQuery, record: ExperimentRecord, now: datetime) -> bool:
    if query.research_line is not None and record.research_line != query.research_line:
        return False
    if query.source is not None and record.source != query.source:
        return False
    if not set(query.tags) <= set(record.tags):
        return False
    if query.ttl_days is not None and record.time is not None:
        return (now - record.time).total_seconds() / 86400 <= query.ttl_days
    return True
