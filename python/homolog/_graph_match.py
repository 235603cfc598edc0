"""graph_match, as in graspologic."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ._errors import MatchError
from ._listed import is_sparse
from ._networks import AssignmentResult, Indices, Matrix, Networks, as_table, checked_pairs, doubly_stochastic, square
from ._solve import threads


class MatchResult(NamedTuple):
    """What graph_match found.

    Attributes
    ----------
    indices_A, indices_B : numpy.ndarray of int
        The matched nodes: ``indices_A[i]`` is matched to ``indices_B[i]``.
    score : float
        The objective.
    misc : list of dict
        One per start, with its score, bound and status.
    """

    indices_A: Indices
    indices_B: Indices
    score: float
    misc: list[dict[str, Any]]


def graph_match(
    A: Any,
    B: Any,
    AB: Any = None,
    BA: Any = None,
    S: Any = None,
    partial_match: Any = None,
    init: Any = None,
    init_perturbation: float = 0.0,
    n_init: int = 1,
    shuffle_input: bool = True,
    maximize: bool = True,
    padding: str = "naive",
    n_jobs: int | None = None,
    max_iter: int = 30,
    tol: float = 0.01,
    verbose: int = 0,
    rng: Any = None,
    transport: bool = False,
    transport_regularizer: float = 100,
    transport_tol: float = 5e-2,
    transport_max_iter: int = 1000,
    fast: bool = True,
) -> MatchResult:
    """Matches the nodes of two networks, as :func:`graspologic.match.graph_match` does.

    The matching p maximises ``sum(A * B[p][:, p]) + sum(AB[:, p] * BA[p]) + sum(S[i, p[i]])``. Frank-Wolfe climbs from each start, and local
    search improves the result.

    Parameters
    ----------
    A, B : array_like or scipy.sparse, shapes (n, n) and (m, m), or lists of such layers
    AB, BA : array_like or scipy.sparse, shapes (n, m) and (m, n), or lists of such layers, optional
        Edges from one network to the other.
    S : array_like or scipy.sparse, shape (n, m), optional
        Similarities of nodes.
    partial_match : array_like of int, shape (s, 2), or tuple of two sequences, optional
        Pairs that are given.
    init : ndarray, optional
        A doubly stochastic matrix to start at, of the nodes that are not given, padded to a square.
    init_perturbation : float, default 0
        How much of a random doubly stochastic matrix is in each start.
    n_init : int, default 1
        How many starts; the best result is kept.
    shuffle_input : bool, default True
        Decide ties at random instead of by the order of the nodes.
    maximize : bool, default True
        False minimises.
    padding : {"naive", "adopted"}
        Networks of different sizes: absent nodes have edges of weight 0, or the networks are first changed to ``2 * A - 1``.
    n_jobs : int, optional
        How many starts at the same time; 1 by default, -1 for all cores.
    max_iter, tol : int, float
        Steps from each start; stop if a step is shorter than `tol`.
    verbose : int, default 0
        Print a line for each start.
    rng : int or numpy.random.Generator, optional
    transport : bool, default False
        Climb by graduated assignment, whose steps are soft assignments. `transport_regularizer`, `transport_tol` and `transport_max_iter` have
        no effect: a warning says so if they are changed.
    fast : bool
        Has no effect.

    Returns
    -------
    MatchResult
        ``indices_A``, ``indices_B``, ``score`` and ``misc``: for each start ``score``, ``n_iter``, ``converged``, ``bound`` and ``status``.

    Examples
    --------
    >>> import numpy as np, homolog as hm
    >>> A = np.array([[0, 1, 0, 0], [1, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]])
    >>> order = [2, 0, 3, 1]
    >>> result = hm.graph_match(A, A[order][:, order], rng=0)
    >>> result.score, result.indices_B[:2].tolist()
    (8.0, [1, 3])
    """
    _check(locals())
    layers_a, layers_b = _layers(A, "A"), _layers(B, "B")
    networks = _networks(layers_a, layers_b, AB, BA, S, partial_match, maximize, padding)
    start = None if init is None else _checked_start(init, max(networks.shape) - len(networks.seeds))
    if transport and (transport_regularizer, transport_tol, transport_max_iter) != (100, 5e-2, 1000):
        text = "transport_regularizer, transport_tol and transport_max_iter have no effect on graduated assignment"
        warnings.warn(text, UserWarning, stacklevel=2)
    generator = np.random.default_rng(rng)

    def run(seed: int) -> AssignmentResult:
        if len(networks.seeds) >= min(networks.shape):
            return networks.given()
        own = np.random.default_rng(seed)
        method: dict[str, Any] = {"name": "graduated-assignment", "seed": int(seed)}
        table = None
        if not transport:
            method = {"name": "frank-wolfe", "starts": 1, "max_steps": int(max_iter), "min_step": float(tol), "kicks": 0}
            table = _perturbed(start, networks, float(init_perturbation), own)
        return networks.search(method, table, own if shuffle_input else None)

    seeds = generator.integers(np.iinfo(np.uint32).max, size=n_init).tolist()
    workers = 1 if n_jobs is None else threads(n_jobs)
    if workers == 1 or n_init == 1:
        found = [run(seed) for seed in seeds]
    else:
        with ThreadPoolExecutor(workers) as pool:
            found = list(pool.map(run, seeds))
    if verbose:
        print("\n".join(f"start {number}: {result.fun}, {result.nit} steps" for number, result in enumerate(found)))
    best = (max if maximize else min)(found, key=lambda result: float(result.fun))
    rows = np.flatnonzero(best.col_ind >= 0)
    return MatchResult(rows, best.col_ind[rows], best.fun, [_entry(result, max_iter) for result in found])


def _entry(result: AssignmentResult, max_iter: int) -> dict[str, Any]:
    ended = {"converged": result.nit < max_iter, "bound": result.bound, "status": result.status}
    return {"score": result.fun, "n_iter": result.nit, **ended}


def _networks(
    left: list[Any], right: list[Any], forth: Any, back: Any, similarity: Any, given: Any, maximize: bool, padding: str
) -> Networks:
    n, m = left[0].shape[0], right[0].shape[0]
    if len(left) != len(right):
        raise MatchError(f"`A` and `B` must have the same number of layers, found {len(left)} and {len(right)}")
    between: list[tuple[Any, Any]] = []
    if forth is not None and back is not None:
        pairs = (_rectangles(forth, "AB", (n, m), len(left)), _rectangles(back, "BA", (m, n), len(left)))
        between = list(zip(*pairs))
    elif forth is not None or back is not None:
        # One without the other adds nothing, but must be of the right size.
        alone: tuple[Any, str, tuple[int, int]] = (forth, "AB", (n, m)) if back is None else (back, "BA", (m, n))
        _rectangles(*alone, len(left))
    if n != m and padding == "adopted":
        left, right = [_adopted(layer) for layer in left], [_adopted(layer) for layer in right]
        between = [(_adopted(one), _adopted(other)) for one, other in between]
    seeds = np.column_stack(given) if isinstance(given, tuple) else given
    if seeds is not None and len(seeds) > min(n, m):
        raise MatchError("`partial_match` can have only as many seeds as there are nodes")
    return Networks(left, right, maximize, similarity, checked_pairs(seeds, n, m, "partial_match", "seeds"), between)


def _layers(network: Any, name: str) -> list[Any]:
    is_list = isinstance(network, (list, tuple)) and all(is_sparse(part) or np.ndim(part) == 2 for part in network)
    layers = list(network) if (is_list and len(network)) or np.ndim(network) == 3 else [network]
    found = [square(layer, name) for layer in layers]
    if any(layer.shape != found[0].shape for layer in found):
        raise MatchError("Layers in a multilayer network must all share the same shape.")
    return found


def _rectangles(layers: Any, name: str, shape: tuple[int, int], count: int) -> list[Any]:
    is_many = isinstance(layers, list) or np.ndim(layers) == 3
    tables = [as_table(layer) for layer in (layers if is_many else [layers])]
    if len(tables) != count:
        raise MatchError(f"`{name}` must have as many layers as `A`, {count}, found {len(tables)}")
    for table in tables:
        if table.shape != shape:
            raise MatchError(f"`{name}` must have shape {shape}, found {table.shape}")
    return tables


def _adopted(layer: Any) -> Any:
    return 2.0 * (layer.toarray() if is_sparse(layer) else layer) - 1.0


def _checked_start(init: Matrix, count: int) -> Matrix:
    if init.ndim != 2:
        raise MatchError("`init` matrix must be 2d")
    if init.shape != (count, count):
        raise MatchError("`init` matrix must be n x n, where n is the number of non-seeded nodes")
    sums = np.concatenate([init.sum(axis=0), init.sum(axis=1)])
    if not np.isclose(sums, 1, atol=1e-3).all() or (init < 0).any():
        raise MatchError("`init` matrix must be doubly stochastic")
    clipped: Matrix = np.clip(init.astype(float), 0.0, 1.0)
    return clipped


def _perturbed(start: Matrix | None, networks: Networks, share: float, rng: Any) -> Matrix | None:
    """The start, or the flat one, with some of a random matrix; without the absent nodes."""
    count = max(networks.shape) - len(networks.seeds)
    if share > 0:
        start = np.full((count, count), 1.0 / count) if start is None else start
        start = np.minimum((1 - share) * start + share * doubly_stochastic(rng.uniform(size=(count, count))), 1.0)
    if start is None:
        return None
    rows, columns = networks.free()
    return start[: len(rows), : len(columns)]


def _check(given: dict[str, Any]) -> None:
    """Types are TypeErrors and values MatchErrors, which are ValueErrors."""
    whole, number = (int, np.integer), (int, float, np.integer, np.floating)
    counts = ("n_init", "max_iter", "verbose", "transport_max_iter")
    numbers = ("tol", "init_perturbation", "transport_tol", "transport_regularizer")
    truths = ("shuffle_input", "maximize", "transport", "fast")
    for names, kind, what in ((counts, whole, "a whole number"), (numbers, number, "a number"), (truths, (bool, np.bool_), "a bool")):
        for name in names:
            is_bool = isinstance(given[name], (bool, np.bool_)) and name not in truths and name != "verbose"
            if not isinstance(given[name], kind) or is_bool:
                raise TypeError(f"{name} must be {what}, found {given[name]!r}")
    if given["init"] is not None and not isinstance(given["init"], np.ndarray):
        raise TypeError(f"init must be an array, found {given['init']!r}")
    if given["padding"] not in ("naive", "adopted"):
        raise TypeError(f"padding must be 'naive' or 'adopted', found {given['padding']!r}")
    if given["rng"] is not None and not isinstance(given["rng"], (*whole, np.random.Generator)):
        raise TypeError(f"rng must be a whole number or a numpy.random.Generator, found {given['rng']!r}")
    for name, least in (("n_init", 1), ("max_iter", 1), ("transport_max_iter", 1), ("tol", 0), ("transport_tol", 0)):
        if not given[name] >= least:
            raise MatchError(f"{name} is {given[name]}: it must be at least {least}")
    if not 0 <= given["init_perturbation"] <= 1:
        raise MatchError(f"init_perturbation is {given['init_perturbation']}: it must be between 0 and 1")
