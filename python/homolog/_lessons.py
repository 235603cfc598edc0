"""Lessons: the pairs that a Matcher was fitted to, so that one more can be added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._data import DataSet, checked_pairs


@dataclass(frozen=True)
class Lessons:
    """Pairs, their matches and how often each counts. The pairs are the caller's own objects, not copies."""

    pairs: list[Any]
    y: list[Any]
    weights: list[float] | None

    @staticmethod
    def of(pairs: Any, y: Any, sample_weight: ArrayLike | None) -> Lessons | None:
        """None for a data set whose pairs have splits: they are more than a list of pairs."""
        if isinstance(pairs, DataSet) and y is None:
            data = pairs if pairs.pairs else pairs.all_pairs()
            if any(split is not None for split in data.splits):
                return None
            pairs, y = data.pairs, data.y
        listed = list(checked_pairs(pairs))
        weights = None if sample_weight is None else np.broadcast_to(np.asarray(sample_weight, dtype=float), (len(listed),)).tolist()
        return Lessons(listed, [None] * len(listed) if y is None else list(y), weights)

    def with_pair(self, pair: Any, match: Any) -> Lessons:
        """One pair more, or another match for one that is there."""
        at = next((at for at, own in enumerate(self.pairs) if _is_same(own, pair)), None)
        if at is not None:
            return Lessons(self.pairs, [*self.y[:at], match, *self.y[at + 1 :]], self.weights)
        weights = None if self.weights is None else [*self.weights, 1.0]
        return Lessons([*self.pairs, pair], [*self.y, match], weights)


def _is_same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    both = isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other)
    return both and all(left is right for left, right in zip(one, other))
