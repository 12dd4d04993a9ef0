"""Traces as lines of JSON, ``tried.trace/v1``, both ways; and what a replay of one shows, ``tried.replay/v1``.

Invariant: a trace that was written and read again is the same, to the last bit.
Invariant: what is read is checked field by field, so that nothing behind this room meets what is no number.
Invariant: a trace that was edited after it was made is refused.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from pydantic import ValidationError

from tried.evaluation.replay import Replay, ReplayedRow
from tried.evaluation.trace import Filters, ResultRow, Trace
from tried.pool.outcome import Fact
from tried.pool.record import parse_time
from tried.ranking.breakdown import ScoreComponents, Term
from tried.ranking.candidate_snapshot import CandidateSnapshot, Pause, ScoredCandidates, no_pause
from tried.ranking.features import Decay, Features, QueryFeatures
from tried.ranking.policy import Policy, PolicyError, policy_from_json, policy_json
from tried.ranking.scoring import components_of
from tried.render.explanations import breakdown_json
from tried.render.reports import rfc3339
from tried.render.trace_model import CandidatePart, FeaturesPart, ResultPart, TermPart, TracePart
from tried.render.trace_seal import Seal, sealed_id

TRACE_SCHEMA: Final = "tried.trace/v1"
REPLAY_SCHEMA: Final = "tried.replay/v1"
TRACES_SCHEMA: Final = "tried.traces/v1"

LINE_BEGINNING: Final = b'{"schema":"tried.trace/v'
"""What every trace begins with, whatever its version."""

_SCHEMA: Final = re.compile(r"tried\.trace/v([1-9]\d{0,8})\Z")
_OWN_VERSION: Final = 1
_PIECE: Final = 32
_MOST_DIGITS: Final = 400
_SHOWN: Final = 60
_EDITED: Final = "the trace was edited after it was made"


class TraceError(ValueError):
    """What is wrong with a trace, beginning with the field: `candidates[3].features.bm25: …`."""


class TornTrace(ValueError):
    """A line that is no whole piece of JSON: the rest of a trace whose writer was stopped."""


def trace_line(trace: Trace, pause: Pause = no_pause) -> bytes:
    """One line without its end, in ASCII. The `id` is a hash of all the rest: the same request of the same pool has the
    same one."""
    scored = trace.scored
    head: dict[str, Any] = {
        "now": rfc3339(trace.now),
        "version": trace.version,
        "query": {
            "terms": list(scored.query.terms),
            "text": trace.text,
            "architecture": trace.architecture,
            "best_bm25": scored.query.best_bm25,
            "missing": dict(scored.query.missing),
        },
        "filters": {
            "research_line": trace.filters.research_line,
            "tags": list(trace.filters.tags),
            "source": trace.filters.source,
            "ttl_days": trace.filters.ttl_days,
            "containing": list(trace.filters.containing),
        },
        "policy_name": trace.policy_name,
        "policy_id": scored.policy.policy_id,
        "policy": policy_json(scored.policy),
        "generation": trace.generation,
        "limit": trace.limit,
        "total": scored.total,
        "complete": scored.is_complete,
    }
    result = result_json(trace.result)
    seal = Seal({"schema": TRACE_SCHEMA, **head, "result": result})
    candidates: list[bytes] = []
    for start in range(0, len(scored.candidates), _PIECE):
        pause()
        piece = encoded([_candidate_json(each) for each in scored.candidates[start : start + _PIECE]])
        seal.add(piece)
        candidates.append(piece[1:-1])
    pause()
    front = encoded({"schema": TRACE_SCHEMA, "id": seal.id, **head})[:-1]
    return b'%s,"candidates":[%s],"result":%s}' % (front, b",".join(candidates), encoded(result))


def encoded(data: Any) -> bytes:
    """JSON in which each float is the shortest text that gives it back."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode("ascii")


def result_json(rows: Iterable[ResultRow]) -> list[dict[str, Any]]:
    """As in ``tried.ranking/v1``, and the inputs of the terms with it."""
    return [_row_json(row) for row in rows]


def replay_report(replay: Replay, trace_id: str) -> dict[str, Any]:
    """``tried.replay/v1``. `identical` is null under another policy than the trace's; `moves` are then the records of
    both rankings, with both places, scores and breakdowns."""
    trace = replay.trace
    report: dict[str, Any] = {
        "schema": REPLAY_SCHEMA,
        "trace": trace_id,
        "now": rfc3339(trace.now),
        "version": trace.version,
        "generation": trace.generation,
        "limit": trace.limit,
        "total": trace.scored.total,
        "candidates": len(trace.scored.candidates),
        "complete": replay.is_complete,
        "policy_id": replay.policy.policy_id,
        "policy": policy_json(replay.policy),
        "traced_policy_id": trace.scored.policy.policy_id,
        "identical": is_identical(replay) if replay.is_same_policy else None,
        "results": result_json(each.row for each in replay.rows),
    }
    if not replay.is_same_policy:
        report["moves"] = [_move_json(each, True) for each in replay.rows]
        report["moves"] += [_move_json(each, False) for each in replay.left]
    return report


def is_identical(replay: Replay) -> bool:
    """Whether the results are those of the trace, byte by byte."""
    return _comparable(each.row for each in replay.rows) == _comparable(replay.trace.result)


def _comparable(rows: Iterable[ResultRow]) -> bytes:
    """Inputs have no type of their own in a trace, and programs through which it may have gone write 8.0 as 8."""
    data = result_json(rows)
    for term in (term for row in data for term in row["terms"]):
        for name, value in term.get("inputs", {}).items():
            if isinstance(value, int) and not isinstance(value, bool):
                term["inputs"][name] = float(value)
    return encoded(data)


def _move_json(move: ReplayedRow, is_listed: bool) -> dict[str, Any]:
    return {
        "id": move.row.id,
        "rank": move.row.rank,
        "was": move.before.rank,
        "moved": move.moved,
        "listed": is_listed,
        "score": move.row.score,
        "was_score": move.before.score,
        "changed": list(move.changed),
        "breakdown": breakdown_json(move.row.terms),
        "was_breakdown": breakdown_json(move.before.terms),
    }


def _row_json(row: ResultRow) -> dict[str, Any]:
    return {
        "rank": row.rank,
        "id": row.id,
        "name": row.name,
        "score": row.score,
        "dead_end": row.dead_end,
        "terms": breakdown_json(row.terms, with_inputs=True),
    }


def _candidate_json(candidate: CandidateSnapshot) -> dict[str, Any]:
    features, decay = candidate.features, candidate.decay
    return {
        "id": candidate.id,
        "name": candidate.name,
        "signals": _signals(components_of(features, decay)),
        "features": {
            "bm25": features.bm25,
            "words": features.words,
            "cosine": features.cosine,
            "structural": features.structural,
            "age_days": features.age_days,
            "facts": list(_names(features.facts)),
            "matched": _set_bits(features.matched or 0),
            "hits": features.hits,
            "last_hit_age_days": features.last_hit_age_days,
            "ttl": features.ttl,
        },
        "decay": {"recency": decay.recency, "last_hit": decay.last_hit, "age": decay.age},
    }


def _set_bits(bits: int) -> list[int]:
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found


@lru_cache
def _names(facts: Fact) -> tuple[str, ...]:
    return tuple(fact.name.lower() for fact in Fact if fact in facts and fact.name)


def _signals(signals: ScoreComponents) -> dict[str, float]:
    return {
        "lexical": signals.lexical,
        "structural": signals.structural,
        "recency": signals.recency,
        "importance": signals.importance,
    }


def object_of(line: bytes) -> Any:
    """The JSON of a line, not yet checked. Raises TornTrace if it is not whole, TraceError if it nests too deeply."""
    try:
        return json.loads(line, parse_int=_whole_number)
    except RecursionError:
        raise TraceError("it is nested too deeply") from None
    except ValueError as error:  # of its encoding as well
        raise TornTrace(f"not a whole trace ({len(line):,} bytes of it)") from error


def _whole_number(text: str) -> int | float:
    """A number of so many digits is as good as infinite, and is refused as such where it stands."""
    return int(text) if len(text) <= _MOST_DIGITS else float("inf")


def trace_of_object(data: Any) -> tuple[str, Trace]:
    """(id, trace) of JSON that was read. Raises TraceError for what is no trace, one of a newer version, and one that
    was edited after it was made."""
    _check_schema(data)
    try:
        part = TracePart.model_validate(data)
        trace = _trace(part)
        made = sealed_id(data)
    except ValidationError as error:
        raise TraceError(_first_problem(error)) from None
    except RecursionError:
        raise TraceError("it is nested too deeply") from None
    if part.id != made:
        raise TraceError(f"id: {_told(part.id)} is not the hash of the rest ({made}): {_EDITED}")
    return part.id, trace


def _check_schema(data: Any) -> None:
    schema = data.get("schema") if isinstance(data, dict) else None
    match = _SCHEMA.match(schema) if isinstance(schema, str) else None
    if match is None:
        raise TraceError(f"schema: expected {TRACE_SCHEMA}, got {_told(schema)}; it is no trace")
    if int(match[1]) > _OWN_VERSION:
        raise TraceError(f"schema: {schema} is of a newer tried; this one reads {TRACE_SCHEMA}: update it")


def _first_problem(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False)
    first = problems[0]
    said = first["msg"][:1].lower() + first["msg"][1:]
    got = "" if first["type"] == "missing" else f", got {_told(first['input'])}"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{_place(first['loc'])}: {said.removeprefix('input ')}{got}{more}"


def _place(location: Sequence[str | int]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "the trace"


def _told(value: object) -> str:
    try:
        text = json.dumps(value)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _trace(part: TracePart) -> Trace:
    now = parse_time(part.now)
    if now is None:
        raise TraceError(f"now: expected a time such as 2026-11-30T12:00:00Z, got {_told(part.now)}")
    try:
        policy = policy_from_json(part.policy)
    except PolicyError as error:
        raise TraceError(f"policy.{error.problems[0]}") from None
    if part.policy_id != policy.policy_id:
        raise TraceError(
            f"policy_id: {_told(part.policy_id)} is not that of the policy beside it ({policy.policy_id}): {_EDITED}"
        )
    missing: dict[str, str] = dict(part.query.missing.items())
    query = QueryFeatures(tuple(part.query.terms), part.query.best_bm25, missing)
    if len(query.terms) != len(set(query.terms)):
        raise TraceError("query.terms: one stands there twice")
    candidates = tuple(
        _candidate(each, f"candidates[{place}]", query, policy) for place, each in enumerate(part.candidates)
    )
    _check_counts(part)
    return Trace(
        now=now,
        version=part.version,
        policy_name=part.policy_name,
        text=part.query.text,
        architecture=part.query.architecture,
        filters=Filters(
            part.filters.research_line,
            tuple(part.filters.tags),
            part.filters.source,
            part.filters.ttl_days,
            tuple(part.filters.containing),
        ),
        generation=part.generation,
        limit=part.limit,
        scored=ScoredCandidates(query, policy, part.total, candidates),
        result=tuple(map(_row, part.result)),
    )


def _check_counts(part: TracePart) -> None:
    twice = [record for record, count in Counter(each.id for each in part.candidates).items() if count > 1]
    if twice:
        raise TraceError(f"candidates: {_told(twice[0])} stands there twice")
    if part.total < len(part.candidates):
        raise TraceError(f"total: {part.total} is less than the {len(part.candidates)} candidates that are there")
    if part.complete != (part.total == len(part.candidates)):
        raise TraceError(
            f"complete: {_told(part.complete)}, but {len(part.candidates)} of {part.total} candidates are there"
        )


def _candidate(part: CandidatePart, place: str, query: QueryFeatures, policy: Policy) -> CandidateSnapshot:
    features = _features(part.features, f"{place}.features", query)
    decay = Decay(part.decay.recency, part.decay.last_hit, part.decay.age)
    for name, used in (("last_hit", policy.hit_boost.enabled), ("age", policy.decay_penalty.enabled)):
        if used and getattr(decay, name) is None:
            raise TraceError(f"{place}.decay.{name}: expected a number, for the policy uses it, got null")
    kept = part.signals.model_dump()
    for name, made in _signals(components_of(features, decay)).items():
        if kept[name] != made:
            raise TraceError(
                f"{place}.signals.{name}: got {kept[name]!r}, but the features beside it give {made!r}: one of them was"
                " changed, or another version of tried weighs them otherwise"
            )
    return CandidateSnapshot(part.id, part.name, features, decay)


def _features(part: FeaturesPart, place: str, query: QueryFeatures) -> Features:
    matched = 0
    for number in part.matched:
        if number >= len(query.terms):
            raise TraceError(f"{place}.matched: got {number}, but the query has {len(query.terms)} terms")
        matched |= 1 << number
    facts = Fact(0)
    for name in part.facts:
        facts |= Fact[name.upper()]
    return Features(
        bm25=part.bm25,
        words=part.words,
        cosine=part.cosine,
        structural=part.structural,
        age_days=part.age_days,
        facts=facts,
        matched=matched,
        hits=part.hits,
        last_hit_age_days=part.last_hit_age_days,
        ttl=part.ttl,
    )


def _row(part: ResultPart) -> ResultRow:
    return ResultRow(part.rank, part.id, part.name, part.score, part.dead_end, tuple(map(_term, part.terms)))


def _term(part: TermPart) -> Term:
    return Term(part.name, part.value, part.signal, part.weight, part.note, part.inputs)
