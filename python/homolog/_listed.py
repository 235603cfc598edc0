"""Problems as lists: scipy.sparse matrices, and points that are near each other. No table of all pairs is made."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._errors import MatchError
from ._graph import plain_floats, plain_integers
from ._match import Match
from ._pairs import coordinates_of

Indices = NDArray[np.int64]


def is_sparse(thing: Any) -> bool:
    """Whether a thing is a scipy.sparse matrix or array; nothing is imported to find out."""
    return hasattr(thing, "tocoo") and hasattr(thing, "nnz") and getattr(thing, "ndim", 2) == 2


def listed(
    cost: Any,
    maximize: bool,
    unmatched: ArrayLike | None = None,
    gate: float | None = None,
    seeds: Indices | None = None,
    forbidden: Indices | None = None,
) -> _core.Listed:
    """The listed pairs as a problem of the library: absent entries are forbidden, explicit zeros are costs."""
    n, m = (int(count) for count in cost.shape)
    row, column, values = coordinates_of(cost)
    given = (_prices(unmatched, n), gate, seeds, forbidden)
    return _core.Listed((n, m), (plain_integers(row), plain_integers(column)), plain_floats(values), maximize, given)


def assign_sparse(cost: Any, maximize: bool) -> tuple[Indices, Indices]:
    """What `linear_sum_assignment` gives for a sparse matrix: the nodes of the smaller side all have to be matched."""
    fields, _ = listed(cost, maximize).solve(True, None, None)
    match = Match(fields)
    return match.left, match.right


def _prices(unmatched: ArrayLike | None, count: int) -> NDArray[np.float64] | None:
    if unmatched is None:
        return None
    return plain_floats(np.broadcast_to(np.asarray(unmatched, dtype=float), (count,)))


def min_weight_full_bipartite_matching(biadjacency: Any, maximize: bool = False) -> tuple[Indices, Indices]:
    """The matching of all nodes of the smaller side with the least total weight, on a list of pairs.

    A drop-in for :func:`scipy.sparse.csgraph.min_weight_full_bipartite_matching`: the same arguments, results and errors.

    Parameters
    ----------
    biadjacency : scipy.sparse matrix or array, shape (n, m)
        Weights of the pairs that may be matched. As in scipy, explicit zeros are removed, with a warning; :func:`homolog.solve` takes them as costs.
    maximize : bool, default False
        Largest instead of least total weight.

    Returns
    -------
    row_ind, col_ind : numpy.ndarray of int
        Rows in order and their columns, ``min(n, m)`` of them.

    Raises
    ------
    TypeError
        Not a sparse matrix.
    ValueError
        No full matching exists.

    Examples
    --------
    >>> import homolog as hm
    >>> from scipy.sparse import csr_array
    >>> row, col = hm.min_weight_full_bipartite_matching(csr_array([[4, 1, 0], [2, 0, 5]]))
    >>> col.tolist()
    [1, 0]
    """
    if not is_sparse(biadjacency):
        raise TypeError("graph must be in CSC, CSR, or COO format.")
    if getattr(biadjacency, "format", "csr") not in ("csr", "csc", "coo"):
        raise TypeError("graph must be in CSC, CSR, or COO format.")
    kind = np.asarray(biadjacency.data).dtype.kind if hasattr(biadjacency, "data") else "f"
    if kind not in "bifu":
        raise ValueError(f"expected a matrix containing numerical entries, got {np.asarray(biadjacency.data).dtype}")
    row, column, values = coordinates_of(biadjacency)
    is_zero = values == 0
    if is_zero.any():
        warnings.warn("explicit zero weights are removed before matching; homolog.solve takes them as costs of zero", stacklevel=2)
        row, column, values = row[~is_zero], column[~is_zero], values[~is_zero]
    n, m = (int(count) for count in biadjacency.shape)
    if n == 0 or m == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    given = (None, None, None, None)
    try:
        problem = _core.Listed((n, m), (plain_integers(row), plain_integers(column)), plain_floats(values), bool(maximize), given)
        fields, _ = problem.solve(True, None, None)
    except MatchError as error:
        raise type(error)(f"no full matching exists: {error}") from None
    assignment: Indices = fields["assignment"]
    rows = np.flatnonzero(assignment >= 0)
    if len(rows) < min(n, m):
        raise MatchError("no full matching exists")
    return rows, assignment[rows]


def match_points(
    left: ArrayLike,
    right: ArrayLike,
    *,
    gate: float | None = None,
    nearest: int | None = None,
    unmatched: ArrayLike | None = None,
    squared: bool = False,
    seeds: Any = None,
    forbid: Any = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
) -> Match:
    """The best matching of points by their distances, without a table of all distances.

    Parameters
    ----------
    left, right : array_like, shape (n, 2) or (n, 3)
        Points.
    gate : float, optional
        Points that are farther apart than this are not matched.
    nearest : int, optional
        A left point may only be matched to one of this many nearest right points. `gate` or `nearest` is required.
    unmatched : float or array_like of shape (n,), optional
        What it costs to leave a left point without a partner; by default as many points as possible are matched.
    squared : bool, default False
        Squares of distances are the costs; the gate is still a distance.
    seeds, forbid : array_like of int, shape (k, 2), optional
        Pairs that must be matched, or must not be.
    time_limit : float, optional
        Seconds after which the best so far is returned.
    n_jobs : int, optional
        How many threads; all cores by default.

    Returns
    -------
    Match
        Proven optimal among the pairs that the gate, or `nearest`, allows.

    Examples
    --------
    >>> import homolog as hm
    >>> match = hm.match_points([[0, 0], [5, 5], [9, 0]], [[5, 4], [0, 1]], gate=2, unmatched=3)
    >>> match.assignment.tolist(), match.score, match.status
    ([1, 0, -1], 5.0, 'optimal')
    """
    from ._solve import pairs_array, threads

    if gate is None and nearest is None:
        raise MatchError("give a gate, or how many nearest points are looked at")
    points = [plain_floats(np.asarray(side, dtype=float).reshape(-1, 2) if np.size(side) == 0 else side) for side in (left, right)]
    for name, side in zip(("left", "right"), points):
        if side.ndim != 2:
            raise MatchError(f"{name} points: expected an array (n, 2) or (n, 3), found shape {side.shape}")
    if nearest is not None and not (nearest >= 1 and nearest == int(nearest)):
        raise MatchError(f"nearest is {nearest}: it must be a whole number, at least 1")
    near = (float("inf") if gate is None else float(gate), None if nearest is None else int(nearest))
    given = (_prices(unmatched, len(points[0])), None, pairs_array(seeds, "seeds"), pairs_array(forbid, "forbid"))
    fields, proof = _core.solve_points(points[0], points[1], near, given, bool(squared), time_limit, threads(n_jobs))
    return Match(fields, proof=proof)
