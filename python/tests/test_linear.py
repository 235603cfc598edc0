"""linear_sum_assignment: every kind of array, errors with their position, many at once, Ctrl-C."""

from __future__ import annotations

import numpy as np
import pytest

import homolog as hm

scipy_optimize = pytest.importorskip("scipy.optimize")


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "bool", ">f8", ">i4"])
@pytest.mark.parametrize("shape", [(7, 9), (70, 11), (4, 90)])
def test_every_dtype(rng, dtype, shape):
    base = (rng.random(shape) * 100).astype(dtype)
    for cost in (base, np.asfortranarray(base), base[::-1, ::2], base.T):
        ours, theirs = hm.linear_sum_assignment(cost), scipy_optimize.linear_sum_assignment(cost.astype(float))
        assert cost[ours].sum(dtype=float) == pytest.approx(cost[theirs].sum(dtype=float))
        np.testing.assert_array_equal(ours, hm.linear_sum_assignment(cost.astype(float)))


def test_every_layout(rng):
    base = rng.random((40, 60))
    record = np.zeros(30, dtype=[("pad", "u1"), ("x", "f8", (20,))])
    record["x"] = rng.random((30, 20))
    read_only = base.copy()
    read_only.flags.writeable = False
    for cost in (np.asfortranarray(base), base[::2, ::3], base[::-1, ::-1], base.T, read_only, record["x"], np.matrix(base)):
        plain = np.array(cost)
        np.testing.assert_array_equal(hm.linear_sum_assignment(cost), hm.linear_sum_assignment(plain))


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (3, 7), (7, 3), (30, 30), (70, 80), (600, 500)])
@pytest.mark.parametrize("maximize", [False, True])
def test_the_totals_are_scipys(rng, shape, maximize):
    for cost in (rng.random(shape), rng.integers(0, 5, shape).astype(float), rng.normal(size=shape) * 1e9):
        ours = hm.linear_sum_assignment(cost, maximize)
        theirs = scipy_optimize.linear_sum_assignment(cost, maximize=maximize)
        assert ours[0].dtype == theirs[0].dtype and np.array_equal(ours[0], np.sort(ours[0]))
        assert len(set(ours[1])) == min(shape)
        assert cost[ours].sum() == pytest.approx(cost[theirs].sum(), rel=1e-12)


def test_forbidden_pairs_are_never_chosen(rng):
    for _ in range(200):
        cost = rng.random((6, 8))
        cost[rng.random(cost.shape) < 0.5] = np.inf
        try:
            theirs = scipy_optimize.linear_sum_assignment(cost)
        except ValueError:
            with pytest.raises(hm.MatchError, match="cost matrix is infeasible"):
                hm.linear_sum_assignment(cost)
            continue
        ours = hm.linear_sum_assignment(cost)
        assert cost[ours].sum() == pytest.approx(cost[theirs].sum())


def test_errors_say_where():
    cost = np.ones((3, 4))
    cost[2, 1] = np.nan
    with pytest.raises(hm.MatchError, match="invalid numeric entries") as caught:
        hm.linear_sum_assignment(cost)
    assert (caught.value.row, caught.value.column, caught.value.index) == (2, 1, None)
    with pytest.raises(ValueError, match="expected a matrix"):
        hm.linear_sum_assignment(np.ones(3))
    with pytest.raises(ValueError, match="expected a matrix"):
        hm.linear_sum_assignment(5)


def test_nothing_is_changed(rng):
    cost = rng.random((50, 50))
    before = cost.copy()
    hm.linear_sum_assignment(cost)
    np.testing.assert_array_equal(cost, before)


def test_many_at_once(rng):
    stack = rng.random((40, 5, 7))
    rows, columns = hm.linear_sum_assignment_batch(stack)
    assert rows.shape == columns.shape == (40, 5)
    for cost, row, column in zip(stack, rows, columns):
        np.testing.assert_array_equal(hm.linear_sum_assignment(cost), (row, column))
    ragged = [rng.random((n, m)) for n, m in [(2, 3), (5, 4), (0, 3), (1, 1)]]
    for cost, found in zip(ragged, hm.linear_sum_assignment_batch(ragged, maximize=True, n_jobs=2)):
        np.testing.assert_array_equal(hm.linear_sum_assignment(cost, maximize=True), found)
    assert hm.linear_sum_assignment_batch([]) == []
    assert hm.linear_sum_assignment_batch(np.zeros((0, 3, 3)))[0].shape == (0, 3)
    np.testing.assert_array_equal(
        hm.linear_sum_assignment_batch(np.asfortranarray(stack), n_jobs=1)[1], hm.linear_sum_assignment_batch(stack)[1]
    )


def test_many_at_once_says_which_one_is_wrong(rng):
    stack = rng.random((4, 3, 3))
    stack[2, 1, 0] = np.nan
    with pytest.raises(hm.MatchError) as caught:
        hm.linear_sum_assignment_batch(stack)
    assert (caught.value.index, caught.value.row, caught.value.column) == (2, 1, 0)
    with pytest.raises(hm.MatchError, match="3-D array or a list"):
        hm.linear_sum_assignment_batch(np.ones((3, 3)))
