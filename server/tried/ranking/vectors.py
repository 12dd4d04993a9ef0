"""Embedding vectors of records, compared only within one model's space.

Invariant: a cosine depends on its two vectors alone (elementwise operations, added in the order of the dimensions),
not on which other vectors stand beside them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tried.pool.record import Embedding
from tried.ranking.postings import Mask, Rows

VectorSpace: TypeAlias = tuple[str, int]
"""Id of the embedding model and number of dimensions."""


@dataclass(frozen=True, eq=False)
class VectorBlock:
    """Vectors of one space: `matrix` has a line for each dimension, and a column for each record in `rows`."""

    rows: Rows
    matrix: NDArray[np.float64]
    norms: NDArray[np.float64]

    @classmethod
    def of(cls, rows: Sequence[int], vectors: Sequence[Sequence[float]]) -> VectorBlock:
        """Vectors of equal length; those that have no direction (zero, not finite) are left out."""
        matrix = np.ascontiguousarray(np.array(vectors, np.float64).T)
        with np.errstate(over="ignore", invalid="ignore"):
            norms = np.sqrt(_dot(matrix, matrix))
        usable = np.isfinite(norms) & (norms > 0)
        return cls(np.array(rows, np.int32)[usable], matrix[:, usable], norms[usable])

    def cosines(self, vector: Sequence[float]) -> NDArray[np.float64] | None:
        """The cosine to each vector of the block, clamped to [0, 1]; None if `vector` has no direction."""
        column = np.array(vector, np.float64)[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            norm = math.sqrt(float(_dot(column, column)[0]))
        if not (math.isfinite(norm) and norm > 0):
            return None
        return np.clip(_dot(self.matrix, column) / norm / self.norms, 0.0, 1.0)

    @staticmethod
    def merged(parts: Sequence[tuple[Mapping[VectorSpace, VectorBlock], Mask]]) -> dict[VectorSpace, VectorBlock]:
        """The vectors of the rows that each mask keeps, rows numbered anew through all parts."""
        blocks: dict[VectorSpace, list[VectorBlock]] = {}
        offset = 0
        for spaces, kept in parts:
            new_rows = (np.cumsum(kept) - 1 + offset).astype(np.int32)
            for space, block in spaces.items():
                chosen = kept[block.rows]
                blocks.setdefault(space, []).append(
                    VectorBlock(new_rows[block.rows[chosen]], block.matrix[:, chosen], block.norms[chosen])
                )
            offset += int(np.count_nonzero(kept))
        return {
            space: VectorBlock(
                np.concatenate([block.rows for block in found]),
                np.concatenate([block.matrix for block in found], axis=1),
                np.concatenate([block.norms for block in found]),
            )
            for space, found in blocks.items()
        }


def vectors_of(embeddings: Sequence[Embedding | None]) -> dict[VectorSpace, VectorBlock]:
    """The vectors of the records in their order, by space."""
    found: dict[VectorSpace, list[tuple[int, list[float]]]] = {}
    for row, embedding in enumerate(embeddings):
        if embedding is not None and embedding.vector:
            space = (embedding.embedder_id, len(embedding.vector))
            found.setdefault(space, []).append((row, embedding.vector))
    return {
        space: VectorBlock.of([row for row, _ in vectors], [vector for _, vector in vectors])
        for space, vectors in found.items()
    }


def _dot(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Column by column, added in the order of the lines: BLAS would make the order depend on the block's shape."""
    total = np.zeros(left.shape[1], np.float64)
    for one, other in zip(left, right, strict=True):
        total += one * other
    return total
