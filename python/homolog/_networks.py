"""Two networks as a problem of the library, for quadratic_assignment and graph_match."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._errors import MatchError
from ._graph import plain_floats, plain_integers
from ._listed import is_sparse
from ._solve import make_problem, solve_problem

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]

#: The most products of edges from one network to the other and back.
MOST_CROSSING = 50_000_000


class AssignmentResult(dict[str, Any]):
    """col_ind, fun, nit, bound and status; fields can also be read as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __repr__(self) -> str:
        return "\n".join(f"{name:>8}: {value}" for name, value in self.items())


class Networks:
    """Two networks of one or more layers, edges between them, similarities and given pairs."""

    def __init__(
        self,
        flow: list[Any],
        distance: list[Any],
        maximize: bool,
        similarity: ArrayLike | None,
        seeds: Indices,
        between: list[tuple[Any, Any]] | None = None,
        unmatched: ArrayLike | None = None,
    ) -> None:
        self.flow, self.distance, self.maximize, self.seeds = flow, distance, maximize, seeds
        self.between = between or []
        self.shape = (flow[0].shape[0], distance[0].shape[0])
        #: What leaving each left node unmatched costs, or scores.
        self.unmatched = None if unmatched is None else np.broadcast_to(np.asarray(unmatched, dtype=float), self.shape[:1])
        if similarity is not None and is_sparse(similarity):
            similarity = similarity.toarray()  # type: ignore[union-attr]
        self.similarity = None if similarity is None else plain_floats(np.asarray(similarity, dtype=float))
        if self.similarity is not None and self.similarity.shape != self.shape:
            raise MatchError(f"`S` must have shape {self.shape}, found {self.similarity.shape}")

    def core(self) -> _core.Problem:
        node = np.zeros(self.shape) if self.similarity is None else self.similarity.copy()
        for flow, distance in zip(self.flow, self.distance):
            node += np.multiply.outer(flow.diagonal(), distance.diagonal())
        crossing, crossed = _crossing(self.between, node)
        left, a = _edges(self.flow, crossing[:, [0, 1]])
        right, b = _edges(self.distance, crossing[:, [2, 3]])
        problem = make_problem(node, self.maximize, self.unmatched, seeds=self.seeds if len(self.seeds) else None)
        if len(crossed) == 0:
            return problem.with_factors(left, right, a, b)
        pairs = np.stack([_found(left, crossing[:, [0, 1]]), _found(right, crossing[:, [2, 3]])], axis=1)
        return problem.with_factors(left, right, a, b, plain_integers(pairs), crossed)

    def shuffled(self, order: Indices) -> Networks:
        """The same with the right nodes in another order, which leaves the given pairs where they are."""
        distance = [matrix[order][:, order] for matrix in self.distance]
        between = [(forth[:, order], back[order]) for forth, back in self.between]
        similarity = None if self.similarity is None else self.similarity[:, order]
        return Networks(self.flow, distance, self.maximize, similarity, self.seeds, between, self.unmatched)

    def value(self, order: Indices) -> float:
        rows = np.flatnonzero(order >= 0)
        chosen = order[rows]
        total = 0.0
        for flow, distance in zip(self.flow, self.distance):
            total += _product(flow[rows][:, rows], distance[chosen][:, chosen])
        for forth, back in self.between:
            total += _product(forth[rows][:, chosen], back[chosen][:, rows])
        total += 0.0 if self.unmatched is None else float(self.unmatched[order < 0].sum())
        return total if self.similarity is None else total + float(self.similarity[rows, chosen].sum())

    def result(self, order: Indices, steps: int, bound: float, status: str) -> AssignmentResult:
        return AssignmentResult(col_ind=order, fun=self.value(order), nit=steps, bound=bound, status=status)

    def search(
        self, method: dict[str, Any], table: Matrix | None, shuffle: Any = None, time_limit: float | None = None
    ) -> AssignmentResult:
        """Solves, Frank-Wolfe from a soft matching of the free nodes if there is one; ties are decided at random if there is a `shuffle`."""
        (free_rows, free_columns), order = self.free(), np.arange(self.shape[1])
        full = None
        if table is not None:
            full = np.zeros(self.shape)
            full[self.seeds[:, 0], self.seeds[:, 1]] = 1.0
            full[np.ix_(free_rows, free_columns)] = table
        problem = self
        if shuffle is not None:
            order[free_columns] = shuffle.permutation(free_columns)
            problem, full = self.shuffled(order), None if full is None else full[:, order]
        match = solve_problem(problem.core(), method, time_limit, start=full)
        places = np.where(match.assignment < 0, -1, order[match.assignment])
        return self.result(places, match.iterations, match.bound, match.status)

    def given(self) -> AssignmentResult:
        """The answer if all is given."""
        order = np.full(self.shape[0], -1, dtype=np.int64)
        order[self.seeds[:, 0]] = self.seeds[:, 1]
        return self.result(order, 0, self.value(order), "optimal")

    def free(self) -> tuple[Indices, Indices]:
        """The left and right nodes that no given pair has."""
        return tuple(np.setdiff1d(np.arange(count), self.seeds[:, side]) for side, count in enumerate(self.shape))  # type: ignore[return-value]


def square(matrix: Any, name: str) -> Any:
    """A matrix of scipy.sparse or numpy, checked."""
    found = as_table(matrix)
    if found.shape[0] != found.shape[1]:
        raise MatchError(f"`{name}` must be square")
    return found


def as_table(matrix: Any) -> Any:
    """A matrix of scipy.sparse by rows, or an array of numbers."""
    if is_sparse(matrix):
        return matrix.tocsr().astype(float)
    table = np.atleast_2d(matrix)
    if table.ndim != 2:
        raise MatchError("`A` and `B` must have exactly two dimensions")
    return plain_floats(table)




def _product(left: Any, right: Any) -> float:
    """The sum of products of the entries of two matrices."""
    if is_sparse(left):
        return float(left.multiply(right).sum())
    return float(right.multiply(left).sum()) if is_sparse(right) else float(np.sum(left * right))


def checked_pairs(pairs: Any, n: int, m: int, name: str, entries: str) -> Indices:
    """Given pairs, checked as scipy does."""
    if pairs is None:
        return np.zeros((0, 2), dtype=np.int64)
    rows = np.atleast_2d(np.asarray(pairs)).astype(np.int64)
    if rows.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    problem = None
    if rows.shape[0] > n:
        problem = f"can have only as many {entries} as there are nodes"
    elif rows.shape[1] != 2:
        problem = "must have two columns"
    elif rows.ndim != 2:
        problem = "must have exactly two dimensions"
    elif (rows < 0).any():
        problem = "must contain only positive indices"
    elif (rows >= (n, m)).any():
        problem = "entries must be less than number of nodes"
    elif any(len(np.unique(column)) < len(column) for column in rows.T):
        problem = "column entries must be unique"
    if problem is not None:
        raise MatchError(f"`{name}` {problem}")
    return rows


def _entries(matrix: Any) -> tuple[Indices, Matrix]:
    """Where a matrix is not 0, and what it has there."""
    if is_sparse(matrix):
        found = matrix.tocoo()
        row, column, value = found.row, found.col, found.data
    else:
        row, column = np.nonzero(matrix)
        value = matrix[row, column]
    keep = value != 0
    return np.stack([row[keep], column[keep]], axis=1).astype(np.int64), np.asarray(value[keep], dtype=float)


def _edges(layers: list[Any], more: Indices) -> tuple[Indices, Matrix]:
    """Where any layer is not 0 off its diagonal, and some places more, in order; what each layer has there."""
    entries = [_entries(layer) for layer in layers]
    count = layers[0].shape[0]
    codes = [ends[:, 0] * count + ends[:, 1] for ends, _ in entries]
    edges = codes[0] if len(codes) == 1 and len(more) == 0 and not is_sparse(layers[0]) else None
    if edges is None:
        edges = np.unique(np.concatenate([*codes, more[:, 0] * count + more[:, 1]]))
    edges = edges[edges // count != edges % count]
    values = np.zeros((len(edges), len(layers)))
    for at, (code, (_, value)) in enumerate(zip(codes, entries)):
        place = np.searchsorted(edges, code)
        place[place == len(edges)] = 0
        there = edges[place] == code if len(edges) else np.zeros(len(code), dtype=bool)
        np.add.at(values[:, at], place[there], value[there])
    return plain_integers(np.stack([edges // count, edges % count], axis=1)), plain_floats(values)


def _found(edges: Indices, wanted: Indices) -> Indices:
    """Which of the edges, which are in order, each of those wanted is."""
    count = int(edges.max()) + 1
    place: Indices = np.searchsorted(edges[:, 0] * count + edges[:, 1], wanted[:, 0] * count + wanted[:, 1])
    return place


def _crossing(between: list[tuple[Any, Any]], node: Matrix) -> tuple[Indices, Matrix]:
    """The edges between the networks, ``sum(forth[:, p] * back[p])``, as left and right ends (i, j, k, l) and values of pairs of pairs.

    A node may be its own neighbour across: that is added to the scores of the nodes."""
    ends, values = [np.zeros((0, 4), dtype=np.int64)], [np.zeros(0)]
    for forth, back in between:
        (il, forth_value), (kj, back_value) = _entries(forth), _entries(back)
        if len(il) * len(kj) > MOST_CROSSING:
            raise MatchError(f"`AB` and `BA` have {len(il)} and {len(kj)} entries; their product must be at most {MOST_CROSSING}")
        e, f = (part.ravel() for part in np.indices((len(il), len(kj))))
        i, l, k, j = il[e, 0], il[e, 1], kj[f, 0], kj[f, 1]  # noqa: E741
        value = forth_value[e] * back_value[f]
        own = (i == j) & (k == l)
        np.add.at(node, (i[own], k[own]), value[own])
        pair = (i != j) & (k != l)
        ends.append(np.stack([i, j, k, l], axis=1)[pair])
        values.append(value[pair])
    return np.concatenate(ends), plain_floats(np.concatenate(values))


def generator(rng: Any) -> Any:
    """What makes random numbers."""
    if isinstance(rng, (np.random.Generator, np.random.RandomState)):
        return rng
    return np.random.default_rng(None if rng is np.random else rng)


def doubly_stochastic(table: Matrix, rounds: int = 1000, tolerance: float = 1e-3) -> Matrix:
    """Rows and columns in turn divided by their sums."""
    for _ in range(rounds):
        table = table / table.sum(axis=1, keepdims=True)
        table = table / np.maximum(table.sum(axis=0, keepdims=True), 1.0 if table.shape[0] < table.shape[1] else 0.0)
        if (np.abs(table.sum(axis=1) - 1) < tolerance).all():
            break
    return table
