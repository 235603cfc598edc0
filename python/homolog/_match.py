"""Match: what a solver found, and what it proved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._html import table

if TYPE_CHECKING:
    from ._matcher import Matcher

#: Dual values of left and right nodes; left nodes that compete for too few right nodes, and these.
Proof = tuple[NDArray[np.float64], NDArray[np.float64], Optional[tuple[NDArray[np.int64], NDArray[np.int64]]]]


class Match:
    """A matching with its score.

    Attributes
    ----------
    left, right : numpy.ndarray of int
        The matched pairs, in order of left node.
    assignment : numpy.ndarray of int
        The right node of every left node, -1 for none.
    unmatched_left, unmatched_right : numpy.ndarray of int
        Nodes without a partner.
    score : float
        Total of the matching, in the sense of the problem: a cost if costs were given.
    bound : float
        No matching is better than this; infinite if nothing is proven.
    status : str
        "optimal": proven, bound and score agree; "converged": the solver finished, without a proof; "limit": stopped early.
    tolerance : float
        If the status is "optimal": no matching is better by more than this, which rounding may hide; 0 if it is negligible compared with what
        matchings differ by.
    iterations : int
        How many rounds the solver took.
    shortage : (left, right) or None
        Left nodes with too few right nodes to match, because of forbidden pairs (a deficient set), if there are any.
    duals : (left, right) or None
        Of a linear problem: values u, v of the nodes that prove the answer (see :func:`homolog.verify`). No pair costs less than u_i + v_k, and
        matched ones cost that.
    margins : numpy.ndarray of float
        For each matched pair, how much worse the best matching without it is; infinite if no such matching has as many nodes. Exact
        without edges; with edges at most this large, unless the method proves its answers.
    candidates : list of numpy.ndarray of int, or None
        If asked for (``candidates=0.95``): for each matched pair the right nodes that include the true partner that often, the match first.
    """

    def __init__(
        self,
        fields: dict[str, Any],
        margins: Callable[[], NDArray[np.float64]] | None = None,
        names: tuple[list[str] | None, list[str] | None] = (None, None),
        proof: Proof | Callable[[], Proof | None] | None = None,
        candidates: list[NDArray[np.int64]] | None = None,
        tolerance: Callable[[], float | None] | None = None,
    ) -> None:
        self._proof = proof
        self._tolerance = tolerance
        self.candidates = candidates
        self.assignment: NDArray[np.int64] = fields["assignment"]
        self.score: float = fields["score"]
        self.bound: float = fields["bound"]
        self.status: str = fields["status"]
        self.iterations: int = fields["iterations"]
        self.shortage: tuple[NDArray[np.int64], NDArray[np.int64]] | None = fields["shortage"]
        self._right_count: int = fields["right_count"]
        self._margins = margins
        self._names = names

    @property
    def left(self) -> NDArray[np.int64]:
        """The matched left nodes, in order."""
        return np.flatnonzero(self.assignment >= 0)

    @property
    def right(self) -> NDArray[np.int64]:
        """The partner of each node in `left`."""
        matched: NDArray[np.int64] = self.assignment[self.assignment >= 0]
        return matched

    @property
    def unmatched_left(self) -> NDArray[np.int64]:
        """Left nodes without a partner."""
        return np.flatnonzero(self.assignment < 0)

    @property
    def unmatched_right(self) -> NDArray[np.int64]:
        """Right nodes without a partner."""
        return np.setdiff1d(np.arange(self._right_count), self.right)

    @cached_property
    def margins(self) -> NDArray[np.float64]:
        """For each matched pair, how much worse the best matching without it is."""
        if self._margins is None:
            raise AttributeError("the margins of this match are not known: it was read from a file, or is that of a list of pairs")
        return self._margins()

    @cached_property
    def tolerance(self) -> float:
        """If the status is "optimal": no matching is better by more than this, which rounding may hide; 0 if it is negligible."""
        return (self._tolerance() or 0.0) if self._tolerance is not None else 0.0

    @property
    def proof(self) -> Proof | None:
        """The dual values, and the left nodes that compete for too few right nodes, if some do: what :func:`homolog.verify` reads."""
        if callable(self._proof):
            self._proof = self._proof()
        return self._proof

    @property
    def duals(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Values of the left and of the right nodes that prove the answer of a linear problem."""
        return None if self.proof is None else self.proof[:2]

    @property
    def names(self) -> dict[str, str]:
        """The matched pairs by name, if the graphs have names."""
        left, right = self._names
        if left is None or right is None:
            return {}
        return {left[i]: right[k] for i, k in zip(self.left, self.right)}

    def to_matrix(self) -> NDArray[np.float64]:
        """One row per left node, one column per right node; 1 where they are matched."""
        table = np.zeros((len(self.assignment), self._right_count))
        table[self.left, self.right] = 1.0
        return table

    def to_dataframe(self) -> Any:
        """The matched pairs as a pandas DataFrame: left, right, margin, and names if there are any; candidates if they were asked for."""
        import pandas as pd

        frame = pd.DataFrame({"left": self.left, "right": self.right, "margin": self.margins})
        if self.candidates is not None:
            frame["candidates"] = self.candidates
        for side, names in zip(("left", "right"), self._names):
            if names is not None:
                frame[f"{side}_name"] = [names[node] for node in frame[side]]
        return frame

    def __len__(self) -> int:
        return len(self.left)

    def __getstate__(self) -> dict[str, Any]:
        margins = self.margins if self._margins is not None else None
        own = {"_margins": None, "_proof": self.proof, "_tolerance": None, "margins": margins, "tolerance": self.tolerance}
        return {**self.__dict__, **own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        of = f"{len(self)} of {len(self.assignment)} matched"
        proof = _core.proof_in_words(self.tolerance or None) if self.status == "optimal" else self.status
        return f"Match({of}, score {self.score:.6g}, {proof})"

    def _repr_html_(self) -> str:
        """The matched pairs as a table, for notebooks; margins only if they were computed before."""
        margins = self.__dict__.get("margins")
        pairs = ((_label(self._names[0], i), _label(self._names[1], k)) for i, k in zip(self.left, self.right))
        if margins is None:
            return table(repr(self), ["left", "right"], pairs, len(self))
        rows = ((left, right, margin) for (left, right), margin in zip(pairs, margins))
        return table(repr(self), ["left", "right", "margin"], rows, len(self))


def _label(names: list[str] | None, node: int) -> str:
    return str(node) if names is None else names[node]


def match_batches(matcher: Matcher, batches: Iterable[Any], *, time_limit: float | None = None) -> Iterator[list[Match]]:
    """The matches of any number of pairs, lazily: a list for each batch of pairs, when it is asked for.

    Parameters
    ----------
    matcher : Matcher
        A fitted one.
    batches : iterable
        Each batch is what `Matcher.match_all` takes. Only one is in memory at a time; its pairs are matched on all cores, and a graph
        that is in many pairs of a batch is described once.
    time_limit : float, optional
        Seconds for each batch.
    """
    for batch in batches:
        yield matcher.match_all(batch, time_limit=time_limit)
