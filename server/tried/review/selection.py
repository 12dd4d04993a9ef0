"""A small language that selects runs: ``lr >= 3e-3 and dataset = cifar and not cause = code_error``.

    condition   either or either …
    either      both and both …
    both        not both | ( condition ) | NAME OPERATOR VALUE | NAME in ( VALUE, … )
    OPERATOR    =  ==  !=  <  <=  >  >=  ~ (contains)

A NAME is a field of the record (FIELDS), else a parameter, else a metric: by its whole key or by its last segments
(`lr` for `optimizer.lr`). Where a run has several of that name, one that fits is enough. ``param:`` and ``metric:``
before a name say which is meant. Values compare as they do everywhere: `1e-3` is `0.001`. What a run does not have, or
what was cut off, fits no comparison, `!=` included; ``= null`` asks for what it does not have.

Invariant: a selection executes nothing of its text, and its depth is bounded.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Final, TypeAlias

from tried.draft.parameters import comparable, is_known, normalise_key
from tried.pool.history.run import Run
from tried.pool.record import as_number, parse_time
from tried.review.named_values import Name, Owner, field_values, table_word, texts_of, values_of

__all__ = ["FIELDS", "Selection", "SelectionError", "parse_selection", "unknown_name"]

FIELDS: Final[dict[str, str]] = {
    "id": "the id, or one of its aliases",
    "name": "the name",
    "outcome": "completed, failed, crashed, stopped, running …",
    "ending": "dead_end, worked or open, all things considered",
    "cause": "out_of_memory, diverged, worse, code_error, infrastructure, stopped, unknown",
    "verdict": "dead_end, works, inconclusive",
    "concluded": "true where somebody wrote down why it ended, or gave a verdict",
    "tag": "one of its tags",
    "source": "what the record comes from: mlflow, wandb …; each of them, where one run is known from several",
    "experiment": "the tracker's group",
    "sweep": "the search that it is a member of",
    "line": "the research line",
    "parent": "the id of its parent",
    "headline": "its headline, whoever wrote it",
    "error": "the end of its traceback",
    "notes": "its notes",
    "time": "when it ran: 2026-03-01, or with a time",
    "duration": "how long, in seconds",
}
"""Names that are no parameters; docs/command-line.md lists them."""

_SAME_FIELD: Final = {
    "tags": "tag",
    "research_line": "line",
    "timestamp": "time",
    "date": "time",
    "note": "notes",
    "seconds": "duration",
    "status": "outcome",
}
_WORDS_OF_A_TABLE: Final = frozenset({"outcome", "ending", "cause", "verdict"})
_LONGEST: Final = 10_000
_DEEPEST: Final = 50
_TOKEN: Final = re.compile(
    r"""(?P<space>\s+) | (?P<sign><=|>=|==|!=|=|<|>|~) | (?P<mark>[(),])
    | (?P<quoted>"[^"]*"|'[^']*') | (?P<open>["']) | (?P<word>[^\s()<>=!~,"']+) | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS: Final = frozenset({"and", "or", "not", "in"})
_ORDERS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NOT_WORDS: Final = {"&&": "and", "&": "and", "||": "or", "|": "or", "!": "not"}

_Test: TypeAlias = Callable[[Run], bool]


class SelectionError(Exception):
    """What is wrong with a selection, in one line; `offset` says where in the text."""

    def __init__(self, message: str, text: str, offset: int) -> None:
        super().__init__(message)
        self.text = text
        self.offset = offset

    @property
    def picture(self) -> str:
        """The text on one line, and a caret below the place."""
        shown = "".join(character if character.isprintable() else " " for character in self.text)
        start = max(0, self.offset - 60)
        cut = shown[start : start + 100]
        return f"  {cut}\n  {' ' * (self.offset - start)}^"


@dataclass(frozen=True)
class Selection:
    """A condition on runs; `names` are the parameters and metrics that it asks for."""

    text: str
    names: tuple[Name, ...]
    _test: _Test = field(repr=False, compare=False)

    def selects(self, run: Run) -> bool:
        return self._test(run)

    def of(self, runs: Iterable[Run]) -> list[Run]:
        """The runs that it selects, in their order."""
        return [run for run in runs if self._test(run)]


def parse_selection(text: str) -> Selection:
    """Raises SelectionError, with the place, for a text that is no condition."""
    if len(text) > _LONGEST:
        raise SelectionError(f"a condition has at most {_LONGEST:,} characters", text[:100], 0)
    return _Parser(text).selection()


def unknown_name(selection: Selection, runs: Iterable[Run]) -> SelectionError | None:
    """A name that no run has: an error that names what is spelled alike; None if every name is that of something."""
    missing = list(selection.names)
    spelled: dict[str, str] = {}
    for run in runs:
        if not missing:
            return None
        missing = [name for name in missing if not _has(run, name)]
        if missing and len(spelled) < 5_000:
            spelled.update((key, recorded.shown) for key, recorded in run.in_force.items())
            spelled.update((normalise_key(metric), metric) for metric in run.record.metrics)
    if not missing:
        return None
    name = missing[0]
    ends = {key.rsplit(".", 1)[-1]: shown for key, shown in reversed(spelled.items())}
    near = difflib.get_close_matches(name.key, [*spelled, *ends, *FIELDS], n=1)
    shown = spelled.get(near[0]) or ends.get(near[0]) or near[0] if near else None
    hint = f"; did you mean {shown}?" if shown else ""
    return SelectionError(f"no run has a parameter or metric {name.written}{hint}", selection.text, name.offset)


def _has(run: Run, name: Name) -> bool:
    return any(True for _ in values_of(run, name))


def _number(value: object) -> float | None:
    return as_number(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _any_fits(values: Iterable[object], compare: Callable[[float, float], bool], limit: float) -> bool:
    return any((number := _number(value)) is not None and compare(number, limit) for value in values)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    offset: int


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._tokens())
        self.at = 0
        self.names: list[Name] = []

    def selection(self) -> Selection:
        if self._peek().kind == "end":
            raise self._error("give a condition, such as lr >= 3e-3")
        test = self._either(0)
        if self._peek().kind == "sign":
            raise self._unquoted()
        if self._peek().kind != "end":
            raise self._error("expected `and` or `or` here")
        return Selection(self.text, tuple(self.names), test)

    def _tokens(self) -> Iterator[_Token]:
        for match in _TOKEN.finditer(self.text):
            kind, told, offset = match.lastgroup or "", match[0], match.start()
            if kind == "open":
                raise SelectionError(f"this {told} has no other", self.text, offset)
            if kind == "other" or told in _NOT_WORDS:
                instead = _NOT_WORDS.get(told)
                raise SelectionError(
                    f"write `{instead}`" if instead else f"{told} means nothing here", self.text, offset
                )
            if kind == "quoted":
                yield _Token("quoted", told[1:-1], offset)
            elif kind == "word":
                is_keyword = told.lower() in _KEYWORDS
                yield _Token("keyword" if is_keyword else "word", told.lower() if is_keyword else told, offset)
            elif kind != "space":
                yield _Token(kind, told, offset)
        yield _Token("end", "", len(self.text))

    def _peek(self) -> _Token:
        return self.tokens[self.at]

    def _next(self) -> _Token:
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def _takes(self, text: str, kind: str) -> bool:
        token = self._peek()
        if token.kind == kind and token.text == text:
            self.at += 1
            return True
        return False

    def _error(self, message: str, token: _Token | None = None) -> SelectionError:
        return SelectionError(message, self.text, (token or self._peek()).offset)

    def _unquoted(self) -> SelectionError:
        """A value that goes on with a sign: ``tag = group=ablation``."""
        value, sign, rest = (self.tokens[min(at, len(self.tokens) - 1)] for at in range(self.at - 1, self.at + 2))
        whole = f"{value.text}{sign.text}{rest.text}"
        return self._error(f"expected `and` or `or` here; a value with signs in it stands in quotes, as in '{whole}'")

    def _either(self, depth: int) -> _Test:
        tests = [self._both(depth)]
        while self._takes("or", "keyword"):
            tests.append(self._both(depth))
        return tests[0] if len(tests) == 1 else lambda run: any(test(run) for test in tests)

    def _both(self, depth: int) -> _Test:
        tests = [self._one(depth)]
        while self._takes("and", "keyword"):
            tests.append(self._one(depth))
        return tests[0] if len(tests) == 1 else lambda run: all(test(run) for test in tests)

    def _one(self, depth: int) -> _Test:
        if depth > _DEEPEST:
            raise self._error(f"more than {_DEEPEST} conditions are nested here")
        if self._takes("not", "keyword"):
            inner = self._one(depth + 1)
            return lambda run: not inner(run)
        if self._takes("(", "mark"):
            opened = self.tokens[self.at - 1]
            inner = self._either(depth + 1)
            if not self._takes(")", "mark"):
                if self._peek().kind == "end":
                    raise self._error("this ( has no )", opened)
                if self._peek().kind == "sign":
                    raise self._unquoted()
                raise self._error("expected `and`, `or` or `)` here")
            return inner
        return self._comparison()

    def _comparison(self) -> _Test:
        name = self._name()
        if self._takes("in", "keyword"):
            if not self._takes("(", "mark"):
                raise self._error("expected ( and the values, as in: dataset in (cifar, mnist)")
            tests = [self._equal(name, self._value("a value"))]
            while self._takes(",", "mark"):
                tests.append(self._equal(name, self._value("a value")))
            if not self._takes(")", "mark"):
                raise self._error("expected , or ) here")
            return lambda run: any(test(run) for test in tests)
        sign = self._next()
        if sign.kind != "sign":
            raise self._error(f"expected = != < <= > >= ~ or `in` after {name.written}", sign)
        value = self._value(f"a value after {sign.text}")
        if sign.text in ("=", "=="):
            return self._equal(name, value)
        if sign.text == "!=":
            return self._unequal(name, value)
        if sign.text == "~":
            wanted = value.text.casefold()
            return lambda run: any(wanted in text for text in texts_of(run, name))
        return self._ordered(name, sign.text, value)

    def _name(self) -> Name:
        token = self._next()
        if token.kind not in ("word", "quoted"):
            raise self._error("expected the name of a parameter, metric or field", token)
        owner: Owner | None = None
        written = token.text
        prefix, colon, rest = written.partition(":")
        if colon and prefix in ("param", "metric") and rest:
            owner, written = ("param" if prefix == "param" else "metric"), rest
        known = _SAME_FIELD.get(written.lower(), written.lower())
        if owner is None and token.kind == "word" and known in FIELDS:
            return Name(written, known, token.offset, "field")
        key = normalise_key(written)
        if not key:
            raise self._error(f"{written} names nothing", token)
        name = Name(written, key, token.offset, owner)
        self.names.append(name)
        return name

    def _value(self, what: str) -> _Token:
        token = self._next()
        if token.kind not in ("word", "quoted"):
            raise self._error(f"expected {what}", token)
        return token

    def _equal(self, name: Name, token: _Token) -> _Test:
        if name.owner == "field" and name.key == "time":
            return self._ordered(name, "=", token)
        is_table_word = name.owner == "field" and name.key in _WORDS_OF_A_TABLE
        wanted = comparable(token.text) if not is_table_word else table_word(token.text)
        if is_table_word and wanted in ("null", "none"):
            wanted = None
        if name.owner == "field":
            return lambda run: wanted in field_values(run, name.key)
        if wanted is None:
            return lambda run: all(value is None for value in values_of(run, name))
        return lambda run: any(value == wanted for value in values_of(run, name))

    def _unequal(self, name: Name, token: _Token) -> _Test:
        equal = self._equal(name, token)
        if comparable(token.text) is None:
            return lambda run: not equal(run)
        if name.owner == "field":
            key = name.key
            return lambda run: any(value is not None for value in field_values(run, key)) and not equal(run)

        def test(run: Run) -> bool:
            values = [value for value in values_of(run, name) if value is not None]
            return bool(values) and all(is_known(value) for value in values) and not equal(run)

        return test

    def _ordered(self, name: Name, sign: str, token: _Token) -> _Test:
        compare = operator.eq if sign == "=" else _ORDERS[sign]
        if name.owner == "field" and name.key == "time":
            return self._timed(compare, token)
        limit = _number(comparable(token.text))
        if limit is None:
            raise self._error(f"{sign} compares with a number", token)
        if name.owner == "field":
            if name.key != "duration":
                raise self._error(f"{name.written} is no number; compare it with = or ~", token)
            return lambda run: _any_fits(field_values(run, "duration"), compare, limit)
        return lambda run: _any_fits(values_of(run, name), compare, limit)

    def _timed(self, compare: Callable[..., bool], token: _Token) -> _Test:
        moment = parse_time(token.text)
        if moment is None:
            raise self._error("time compares with a date, such as 2026-03-01", token)
        day: date | None = None if "T" in token.text or ":" in token.text else moment.date()

        def test(run: Run) -> bool:
            ran: datetime | None = run.record.time
            if ran is None:
                return False
            return compare(ran.astimezone(UTC).date(), day) if day is not None else compare(ran, moment)

        return test
