"""graph_match: as in graspologic, whose own tests run here if GRASPOLOGIC_TESTS names their file (tests/test_match.py of its repository)."""

from __future__ import annotations

import importlib.util
import os
import unittest

import numpy as np
import pytest

import homolog as hm


def correlated(rng: np.random.Generator, n: int, share: float, flipped: float) -> tuple[np.ndarray, np.ndarray]:
    """A network and a copy with some pairs of nodes changed."""
    upper = np.triu(rng.random((n, n)) < share, 1)
    other = np.where(np.triu(rng.random((n, n)) < flipped, 1), ~upper, upper) & np.triu(np.ones((n, n), bool), 1)
    return (upper + upper.T).astype(float), (other + other.T).astype(float)


def value(A: np.ndarray, B: np.ndarray, result: hm.MatchResult) -> float:
    a, b = result.indices_A, result.indices_B
    return float((A[np.ix_(a, a)] * B[np.ix_(b, b)]).sum())


def test_a_shuffled_copy_is_found_with_or_without_seeds(rng: np.random.Generator) -> None:
    A, B = correlated(rng, 60, 0.3, 0.01)
    order = rng.permutation(60)
    B, truth = B[order][:, order], np.argsort(order)
    for seeds in (None, np.column_stack([[3, 40], truth[[3, 40]]]), ([3, 40], truth[[3, 40]].tolist())):
        result = hm.graph_match(A, B, partial_match=seeds, rng=1)
        assert (result.indices_B == truth).all() and (result.indices_A == np.arange(60)).all()
        assert result.score == value(A, B, result)
    indices_A, indices_B, score, misc = result
    assert misc[0]["score"] == score <= misc[0]["bound"] + 1e-6
    assert {"score", "n_iter", "converged", "status"} <= set(misc[0])


def test_sparse_and_dense_give_the_same(rng: np.random.Generator) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    A, B = correlated(rng, 40, 0.2, 0.02)
    dense = hm.graph_match(A, B, rng=3)
    listed = hm.graph_match(sparse.csr_array(A), sparse.csr_array(B), S=sparse.csr_array((40, 40)), rng=3)
    assert (dense.indices_B == listed.indices_B).all() and dense.score == listed.score


def test_layers_add_up(rng: np.random.Generator) -> None:
    layers_A, layers_B = zip(*(correlated(rng, 30, 0.15, 0.02) for _ in range(3)))
    order = rng.permutation(30)
    shuffled = [layer[order][:, order] for layer in layers_B]
    result = hm.graph_match(list(layers_A), shuffled, rng=0)
    assert (result.indices_B == np.argsort(order)).all()
    assert result.score == sum(value(A, B, result) for A, B in zip(layers_A, shuffled))
    # Layers that say the same count as one that is twice as strong.
    twice = hm.graph_match([layers_A[0]] * 2, [layers_B[0]] * 2, rng=0)
    assert twice.score == 2 * value(layers_A[0], layers_B[0], twice)


def test_edges_between_the_networks_count(rng: np.random.Generator) -> None:
    n = 12
    A, B = rng.random((n, n)), rng.random((n, n))
    true = rng.permutation(n)
    AB = (rng.random((n, n)) < 0.3) * 40.0
    # The edges back are those forth, seen from the other side: AB[i, p(j)] goes with BA[p(i), j].
    BA = np.zeros((n, n))
    BA[true] = AB[:, true]
    result = hm.graph_match(A, B, AB, BA, rng=0, n_init=5, init_perturbation=0.5)
    p = result.indices_B
    assert result.score == pytest.approx((A * B[p][:, p]).sum() + (AB[:, p] * BA[p]).sum(), rel=1e-12)
    assert (p == true).all()
    with pytest.raises(ValueError, match="AB"):
        hm.graph_match(A, B, AB[:3, :3], BA[:3, :3])


def test_networks_of_different_sizes(rng: np.random.Generator) -> None:
    A, _ = correlated(rng, 50, 0.4, 0.0)
    kept = np.sort(rng.permutation(50)[:48])
    B = A[np.ix_(kept, kept)]
    larger = hm.graph_match(A, B, padding="adopted", rng=2)
    smaller = hm.graph_match(B, A, padding="adopted", rng=2, n_init=5, init_perturbation=0.3)
    assert (larger.indices_A[np.argsort(larger.indices_B)] == kept).all() and (smaller.indices_B == kept).all()
    assert len(hm.graph_match(A, B).indices_A) == 48
    # A start is square: the nodes that B lacks are its last columns.
    start = np.eye(50)[np.argsort(np.r_[kept, np.setdiff1d(np.arange(50), kept)])]
    assert (hm.graph_match(A, B, init=start).indices_A == kept).all()


def test_starts_and_their_settings(rng: np.random.Generator) -> None:
    A, B = rng.random((15, 15)), rng.random((15, 15))
    one = hm.graph_match(A, B, maximize=False, rng=5)
    many = hm.graph_match(A, B, maximize=False, rng=5, n_init=6, init_perturbation=0.5, n_jobs=2)
    assert len(many.misc) == 6 and many.score == min(entry["score"] for entry in many.misc) <= one.score + 1e-9
    again = hm.graph_match(A, B, maximize=False, rng=5, n_init=6, init_perturbation=0.5)
    assert (again.indices_B == many.indices_B).all()
    assert hm.graph_match(A, B, max_iter=2).misc[0]["n_iter"] <= 2
    assert hm.graph_match(A, B, transport=True, rng=0).score <= hm.graph_match(A, B, rng=0, n_init=3).misc[0]["bound"]
    with pytest.warns(UserWarning, match="transport_tol"):
        hm.graph_match(A, B, transport=True, transport_tol=0.1)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"n_init": -1.5}, TypeError),
        ({"n_init": 0}, ValueError),
        ({"maximize": "hey"}, TypeError),
        ({"padding": "hey"}, TypeError),
        ({"tol": -1}, ValueError),
        ({"init": "rand"}, TypeError),
        ({"init": np.ones((3, 3))}, ValueError),
        ({"init_perturbation": 2.0}, ValueError),
        ({"partial_match": [[0, 0], [1, 0]]}, ValueError),
        ({"partial_match": [[-1, 0]]}, ValueError),
        ({"S": np.eye(4)}, ValueError),
        ({"rng": "seed"}, TypeError),
        ({"A": np.ones((3, 4))}, ValueError),
        ({"A": [np.eye(3), np.eye(3)]}, ValueError),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        hm.graph_match(**{"A": np.eye(3), "B": np.eye(3), **change})  # type: ignore[arg-type]


def _theirs() -> type[unittest.TestCase]:
    path = os.environ.get("GRASPOLOGIC_TESTS")
    if not path or importlib.util.find_spec("graspologic") is None:
        return unittest.TestCase
    spec = importlib.util.spec_from_file_location("graspologic_tests", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.graph_match = hm.graph_match  # type: ignore[attr-defined]
    # What a checker of types raises there is a TypeError here.
    module.BeartypeCallHintParamViolation = TypeError  # type: ignore[attr-defined]
    found: type[unittest.TestCase] = module.TestGraphMatch
    return found


class TestGraspologic(_theirs()):  # type: ignore[misc]
    """Their tests, if they are there."""
