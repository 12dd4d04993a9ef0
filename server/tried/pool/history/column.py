"""One column of numbers over the runs of a research line: dense, or the few places at which it is not empty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

Numbers = NDArray[Any]
Mask = NDArray[np.bool_]
Places = NDArray[np.int32]

_SPARSE: Final = 8
"""A column is held sparse where fewer than one run in so many has anything in it."""


@dataclass(frozen=True, slots=True, eq=False)
class Splice:
    """What becomes of the rows of a line: some go, some are replaced where they stand, some come at the end.

    `kept`: a mask over the old rows, None where all stay. `replaced`: new places of the rows that the first of the
    fresh rows replace, ascending; the other fresh rows are appended.
    """

    kept: Mask | None
    old: int
    replaced: NDArray[np.intp]
    appended: int

    @property
    def staying(self) -> int:
        return self.old if self.kept is None else int(np.count_nonzero(self.kept))

    def spliced(self, old: Numbers | None, fresh: Numbers | None, dtype: DTypeLike, empty: float) -> Numbers:
        staying = self.staying
        result = np.empty(staying + self.appended, dtype)
        result[:staying] = empty if old is None else old if self.kept is None else old[self.kept]
        replacing = len(self.replaced)
        result[self.replaced] = empty if fresh is None else fresh[:replacing]
        result[staying:] = empty if fresh is None else fresh[replacing:]
        return result

    def spliced_list(self, old: list[Any], fresh: list[Any]) -> list[Any]:
        kept = self.kept
        result = list(old) if kept is None else [each for each, stays in zip(old, kept.tolist(), strict=True) if stays]
        for place, each in zip(self.replaced.tolist(), fresh, strict=False):
            result[place] = each
        return result + fresh[len(self.replaced) :]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """`places` None: `numbers` has one for each run; else one for each of these places, ascending."""

    places: Places | None
    numbers: Numbers
    count: int
    """How many runs have something in it."""

    def dense(self, size: int, empty: float = 0) -> Numbers:
        if self.places is None:
            return self.numbers
        whole = np.full(size, empty, self.numbers.dtype)
        whole[self.places] = self.numbers
        return whole

    def at(self, row: int, empty: float = 0) -> Any:
        if self.places is None:
            return self.numbers[row]
        place = int(np.searchsorted(self.places, row))
        return self.numbers[place] if place < len(self.places) and self.places[place] == row else empty

    @staticmethod
    def spliced(
        column: Column | None, fresh: Numbers | None, splice: Splice, dtype: DTypeLike, empty: float = 0
    ) -> Column | None:
        """The column after a splice; None where nothing is left in it. `empty` is 0 or NaN."""
        only_appended = splice.kept is None and not len(splice.replaced)
        if only_appended and fresh is None and column is not None and column.places is not None:
            return column
        old = None if column is None else column.dense(splice.old, empty)
        whole = splice.spliced(old, fresh, dtype, empty)
        filled = whole != 0 if empty == 0 else ~np.isnan(whole)
        count = int(np.count_nonzero(filled))
        if not count:
            return None
        if count * _SPARSE >= len(whole):
            return Column(None, whole, count)
        places = np.flatnonzero(filled).astype(np.int32)
        return Column(places, whole[places], count)
