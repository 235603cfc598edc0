"""quadratic_assignment, as in scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import MatchError
from ._graph import plain_floats, plain_integers
from ._solve import Method, make_problem, solve_problem


class AssignmentResult(dict[str, Any]):
    """col_ind, fun, nit, bound and status; fields can also be read as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __repr__(self) -> str:
        return "\n".join(f"{name:>8}: {value}" for name, value in self.items())


def quadratic_assignment(
    A: ArrayLike, B: ArrayLike, method: Method = None, options: dict[str, Any] | None = None
) -> AssignmentResult:
    """The permutation p that minimises ``sum(A * B[p][:, p])``.

    A drop-in for :func:`scipy.optimize.quadratic_assignment`, which proves nothing: here the answer comes with a bound.

    Parameters
    ----------
    A, B : array_like, shape (n, n)
    method : str or dict, optional
        A solver by name ("frank-wolfe", "exact", ...), or with settings. scipy's "faq" and "2opt" mean "frank-wolfe".
    options : dict, optional
        ``maximize`` (bool), ``partial_match`` (given pairs), ``time_limit`` (seconds, 10 unless given).

    Returns
    -------
    AssignmentResult
        ``col_ind``, ``fun``, ``nit`` as in scipy; ``bound``: no permutation is better; ``status``.

    Examples
    --------
    >>> import homolog as hm
    >>> A = [[0, 80, 150, 170], [80, 0, 130, 100], [150, 130, 0, 120], [170, 100, 120, 0]]
    >>> B = [[0, 5, 2, 7], [0, 0, 3, 8], [0, 0, 0, 3], [0, 0, 0, 0]]
    >>> result = hm.quadratic_assignment(A, B)
    >>> result.fun, result.status
    (3260.0, 'optimal')
    """
    flow, distance = plain_floats(np.atleast_2d(A)), plain_floats(np.atleast_2d(B))
    if flow.ndim != 2 or flow.shape[0] != flow.shape[1]:
        raise MatchError("`A` must be square")
    if distance.ndim != 2 or distance.shape[0] != distance.shape[1]:
        raise MatchError("`B` must be square")
    if flow.shape != distance.shape:
        raise MatchError("`A` and `B` matrices must be of equal size")
    settings = dict(options or {})
    maximize = bool(settings.pop("maximize", False))
    seeds = settings.pop("partial_match", None)
    limit = settings.pop("time_limit", 10.0)
    for ignored in ("rng", "P0", "shuffle_input", "maxiter", "tol", "partial_guess"):
        settings.pop(ignored, None)
    if settings:
        raise MatchError(f"there is no option {next(iter(settings))!r}; there are maximize, partial_match and time_limit")
    if isinstance(method, str) and method in ("faq", "2opt"):
        method = "frank-wolfe"
    if seeds is not None and len(seeds) == 0:
        seeds = None
    problem = make_problem(np.multiply.outer(np.diag(flow), np.diag(distance)), maximize, seeds=seeds)
    left, right = _edges(flow), _edges(distance)
    problem = problem.with_factors(left, right, _values(flow, left), _values(distance, right))
    match = solve_problem(problem, method, limit)
    permutation = match.assignment
    value = float(np.sum(flow * distance[permutation][:, permutation]))
    return AssignmentResult(
        col_ind=permutation, fun=value, nit=match.iterations, bound=match.bound, status=match.status
    )


def _edges(matrix: NDArray[np.float64]) -> NDArray[np.int64]:
    off_diagonal = matrix.copy()
    np.fill_diagonal(off_diagonal, 0.0)
    return plain_integers(np.argwhere(off_diagonal))


def _values(matrix: NDArray[np.float64], edges: NDArray[np.int64]) -> NDArray[np.float64]:
    return plain_floats(matrix[edges[:, 0], edges[:, 1]][:, None])
