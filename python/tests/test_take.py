"""hm.name_take: the frames of a recording, named as a whole."""

import os
from pathlib import Path

import numpy as np
import pytest

import homolog as hm

WALK = Path(os.environ.get("HOMOLOG_DATA", Path(__file__).parents[3] / "shared" / "data")) / "mocap" / "walk.trc"


@pytest.mark.skipif(not WALK.exists(), reason="the recorded walk is not here")
def test_a_walk_is_named_from_five_frames():
    walk = hm.load(WALK)
    frames = list(walk.graphs.values())
    atlas = hm.Atlas(learn_weights=False).fit(frames[20::48])
    random = np.random.default_rng(1)
    orders = [random.permutation(len(frame.names)) for frame in frames[:60]]
    found = hm.name_take(atlas, [frame.points[order] for frame, order in zip(frames, orders)])
    for frame, order, names in zip(frames, orders, found.names):
        assert names == [frame.names[k] for k in order]
    assert len(found) == 60 and found.swaps == [] and found.key_frames > 0
    assert all((confidence > 0.9).all() for confidence in found.confidence)
    table = found.to_dataframe()
    assert len(table) == sum(len(names) for names in found.names)


def test_points_without_a_name_have_no_confidence():
    random = np.random.default_rng(2)
    shape = random.normal(size=(10, 3))
    names = [f"m{k}" for k in range(10)]
    atlas = hm.Atlas(learn_weights=False).fit([hm.Graph(shape, names=names)])
    take = [np.vstack([shape + [0.02 * t, 0, 0], random.normal(size=(1, 3)) * 5]) for t in range(30)]
    found = hm.name_take(atlas, take)
    assert all(own[:10] == names for own in found.names)
    assert sum(own[10] is None for own in found.names) >= 29
    assert all(np.isnan(own[10]) == (name[10] is None) for own, name in zip(found.confidence, found.names))


def test_labels_that_are_wrong_are_listed():
    shape = np.random.default_rng(3).normal(size=(9, 3))
    names = [f"m{k}" for k in range(9)]
    swapped = ["m1", "m0", *names[2:]]
    atlas = hm.Atlas(learn_weights=False).fit([hm.Graph(shape, names=names)])
    take = [hm.Graph(shape + [0.02 * t, 0, 0], names=names if t < 12 else swapped) for t in range(30)]
    found = hm.name_take(atlas, take)
    assert all(own == names for own in found.names)
    assert [one[:4] for one in found.mislabelled] == [("12", "29", "m1", "m0"), ("12", "29", "m0", "m1")]
    assert hm.name_take(atlas, [hm.Graph(frame.points, names=names) for frame in take]).mislabelled == []
