"""Atlas: learns from labelled specimens, names new ones, is saved and read back; the same bytes as the program's."""

from __future__ import annotations

import pickle
import subprocess

import numpy as np
import pytest

import homolog as hm


@pytest.fixture(scope="module")
def specimens(frames):
    return list(frames.graphs.values())


@pytest.fixture(scope="module")
def fitted(specimens):
    return hm.Atlas().fit(specimens[0:60:12])


def test_points_are_named_whatever_their_order(specimens, fitted, rng):
    for frame in (6, 30, 50):
        order = rng.permutation(30)
        points, names = specimens[frame].points[order], [specimens[frame].names[k] for k in order]
        assert fitted.predict(points) == names
        assert fitted.predict(points.tolist()) == names
    assert fitted.predict([specimens[6], specimens[30].points]) == [specimens[6].names, specimens[30].names]


def test_turned_and_mirrored_specimens_are_named_where_the_pose_allows(specimens):
    turn = np.array([[np.cos(2), -np.sin(2)], [np.sin(2), np.cos(2)]])
    points = specimens[30].points @ turn.T * 3 + 7
    assert hm.Atlas("rotated").fit(specimens[0:60:12]).predict(points) == specimens[30].names
    mirrored = hm.Atlas("any").fit(specimens[0:60:12]).name(points * [-1, 1])
    assert mirrored.names == specimens[30].names
    assert np.linalg.det(mirrored.pose["rotation"]) == pytest.approx(-1)


def test_what_is_known_after_a_fit(specimens, fitted):
    assert fitted.landmarks_ == specimens[0].names and fitted.mean_shape_.shape == (30, 2)
    assert (fitted.pose_, fitted.presence_, fitted.n_specimens_) == ("as-given", "auto", 5)
    assert np.sqrt((fitted.mean_shape_**2).sum(axis=1).mean()) == pytest.approx(1, abs=0.05)
    assert (np.linalg.eigvalsh(fitted.covariances_) > 0).all()
    assert all(a in fitted.landmarks_ and b in fitted.landmarks_ for a, b in fitted.edges_)
    assert len(fitted.weights_) == len(fitted.feature_names_)


def test_a_naming_says_how_sure_it_is(specimens, fitted):
    naming = fitted.name(specimens[6])
    assert naming.status == "optimal" and naming.bound == pytest.approx(naming.score)
    assert ((naming.confidence > 0) & (naming.confidence <= 1)).all() and (naming.margins >= 0).all()
    assert all(other is None or other in fitted.landmarks_ for other in naming.runner_up)
    assert naming.landmarks == {name: point for point, name in enumerate(naming.names)} and naming.not_found == []
    assert set(naming.pose) == {"scale", "rotation", "shift"}
    assert "30 of 30 points named" in repr(naming)
    frame = pytest.importorskip("pandas") and naming.to_dataframe()
    assert list(frame.columns) == ["name", "confidence", "runner_up", "margin"]


def test_points_that_are_nobody_and_landmarks_that_are_missing(specimens):
    partial = hm.Atlas(presence="partial").fit(specimens[0:60:12])
    points = specimens[6].points[5:]
    strange = np.vstack([points, points.mean(axis=0) + 2 * np.ptp(points, axis=0)])
    naming = partial.name(points)
    assert len(naming) + len(naming.not_found) == 30
    assert sum(a == b for a, b in zip(naming.names, specimens[6].names[5:])) >= 23
    assert partial.predict(strange)[-1] is None
    alone = hm.Atlas().fit([specimens[0]]).name(specimens[1])
    assert np.isnan(alone.confidence).all()
    assert partial.predict(np.zeros((0, 2))) == []


def test_score_and_names_apart_from_points(specimens, fitted):
    assert fitted.score(specimens[5:60:11]) == 1.0
    points, names = [one.points for one in specimens[0:60:12]], [one.names for one in specimens[0:60:12]]
    assert hm.Atlas().fit(points, names).to_json() == fitted.to_json()
    unnamed = [None if k < 3 else name for k, name in enumerate(names[0])]
    assert fitted.score(points[:1], [unnamed]) == 1.0
    wrong = [names[0][1], names[0][0], *names[0][2:]]
    assert fitted.score(points[:1], [wrong]) == pytest.approx(28 / 30)


def test_explain(specimens):
    few = [hm.Graph(one.points[:8], names=one.names[:8]) for one in specimens[0:60:12]]
    atlas = hm.Atlas().fit(few)
    explanation = atlas.explain(few[1])
    assert len(explanation) == 8 and set(explanation.contributions(0)) == set(atlas.feature_names_)
    assert "decided by" in str(explanation)


def test_saved_read_back_pickled_and_cloned(specimens, fitted, tmp_path):
    fitted.save(tmp_path / "atlas.json")
    for copy in (hm.Atlas.load(tmp_path / "atlas.json"), pickle.loads(pickle.dumps(fitted))):
        assert copy.to_json() == fitted.to_json() and copy.predict(specimens[6]) == specimens[6].names
    joined = hm.Matcher.load(tmp_path / "atlas.json").match(specimens[6], specimens[30])
    assert joined.assignment.tolist() == list(range(30))
    with pytest.raises(hm.MatchError, match="no atlas"):
        matcher = hm.Matcher("paper-linear", weights=np.ones(60)).fit([(specimens[0], specimens[1])])
        hm.Atlas.from_json(matcher.to_json())


def test_the_program_writes_the_same_bytes(program, frames, specimens, fitted, tmp_path):
    names = [name for name, graph in frames.graphs.items()][0:60:12]
    rows = ["specimen,landmark,x,y"]
    rows += [f'{id},"{name}",{x!r},{y!r}' for id in names for name, (x, y) in zip(frames.graphs[id].names, frames.graphs[id].points.tolist())]
    (tmp_path / "five.csv").write_text("\n".join(rows) + "\n")
    command = [str(program), "train", "five.csv", "-o", "atlas.json", "--features", "atlas", "--quiet"]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    assert hm.Atlas().fit(hm.load(tmp_path / "five.csv")).to_json() == (tmp_path / "atlas.json").read_text()


def test_the_number_of_threads_changes_nothing(specimens, fitted):
    assert hm.Atlas(n_jobs=1).fit(specimens[0:60:12]).to_json() == fitted.to_json()


def test_mistakes_are_named(specimens):
    with pytest.raises(hm.NotFittedError):
        hm.Atlas().predict(specimens[0])
    with pytest.raises(hm.MatchError, match="names"):
        hm.Atlas().fit([specimens[0].points])
    with pytest.raises(hm.MatchError, match="y has 1 entries for 2 specimens"):
        hm.Atlas().fit([specimens[0].points, specimens[1].points], [specimens[0].names])
    with pytest.raises(hm.MatchError, match="sideways"):
        hm.Atlas("sideways").fit(specimens[:3])
    with pytest.raises(hm.MatchError, match="edges"):
        hm.Atlas(edges="many").fit(specimens[:3])
    with pytest.raises(hm.MatchError, match="list of specimens"):
        hm.Atlas().fit(3)


def test_scikit_learn_knows_it(specimens):
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score

    assert clone(hm.Atlas("rotated", prior=5.0)).get_params()["prior"] == 5.0
    points, names = [one.points for one in specimens[0:40:8]], [one.names for one in specimens[0:40:8]]
    assert (cross_val_score(hm.Atlas(), points, names, cv=5) > 0.9).all()
    assert repr(hm.Atlas("any")) == "Atlas(pose='any')"


def test_candidates_hold_the_name_and_are_shorter_for_a_lower_level(specimens):
    atlas = hm.Atlas().fit(specimens[0:100:5])
    new = specimens[52]
    wide, narrow = (atlas.name(new.points, candidates=level) for level in (0.95, 0.5))
    for naming, level in ((wide, 0.95), (narrow, 0.5)):
        assert naming.sets is not None and len(naming.sets) == len(new.points)
        assert naming.guaranteed is not None and 0 < naming.guaranteed <= 1
        assert list(naming.to_dataframe()["candidates"]) == naming.sets
    held = [name in own for name, own in zip(new.names, wide.sets)]
    assert np.mean(held) >= 0.9
    assert sum(map(len, narrow.sets)) <= sum(map(len, wide.sets))
    assert atlas.name(new.points).sets is None
    with pytest.raises(hm.MatchError):
        atlas.name(new.points, candidates=1.5)


def test_presence_can_be_given_for_each_naming(specimens):
    atlas = hm.Atlas().fit(specimens[0:60:6])
    new = specimens[31]
    # Five points are elsewhere: as a complete specimen each of them gets a name, otherwise not.
    points = new.points.copy()
    points[:5] = points.mean(axis=0) + 1.5 * (points.max(axis=0) - points.mean(axis=0)) * np.linspace(1, 2, 5)[:, None]
    complete, partial = (atlas.name(points, presence=how) for how in ("complete", "partial"))
    assert (complete.presence, partial.presence) == ("complete", "partial")
    assert None not in complete.names and None in partial.names
    assert atlas.predict(points, presence="partial") == partial.names
    with pytest.raises(hm.MatchError):
        atlas.name(points, presence="sometimes")


def test_matches_list_the_partners_that_they_may_have(specimens):
    model = hm.Matcher.from_json(hm.Atlas().fit(specimens[0:100:5]).to_json())
    one, other = specimens[52], specimens[97]
    plain, wide, narrow = (model.match(one.points, other.points, candidates=level) for level in (None, 0.95, 0.5))
    assert plain.candidates is None
    for found in (wide, narrow):
        assert found.candidates is not None and len(found.candidates) == len(found)
        assert [own[0] for own in found.candidates] == list(found.right)
    sizes = [sum(map(len, found.candidates)) for found in (narrow, wide)]
    assert len(narrow) <= sizes[0] <= sizes[1]
    # The points of both are in the same order, so each is its own partner.
    held = [left in own for left, own in zip(wide.left, wide.candidates)]
    assert np.mean(held) >= 0.9
    assert [list(own) for own in model.match_all([(one.points, other.points)], candidates=0.95)[0].candidates] == [
        list(own) for own in wide.candidates
    ]
    with pytest.raises(hm.MatchError):
        model.match(one.points, other.points, candidates=1.5)
    linear = hm.Matcher("linear", lam=0.01).fit([(specimens[0], specimens[10]), (specimens[20], specimens[30])])
    with pytest.raises(hm.MatchError, match="atlas"):
        linear.match(one.points, other.points, candidates=0.95)


def test_a_matcher_that_is_an_atlas_says_who_explains(frames):
    graphs = list(frames.graphs.values())[:30:10]
    model = hm.Matcher.from_json(hm.Atlas(learn_weights=False).fit(graphs).to_json())
    with pytest.raises(hm.MatchError, match="Atlas.from_json"):
        model.explain(graphs[0], graphs[1])
    assert len(hm.Atlas.from_json(model.to_json()).explain(graphs[1])) == 30


def test_graphs_by_name_are_specimens():
    points = [[0.0, 0.0], [4.0, 0.5], [3.0, 2.5], [1.0, 2.0]]
    graphs = {f"s{k}": hm.Graph(np.array(points) + 0.1 * k, names=list("abcd")) for k in range(4)}
    fitted = hm.Atlas().fit(graphs)
    assert fitted.landmarks_ == hm.Atlas().fit(list(graphs.values())).landmarks_ == list("abcd")
    assert [naming.names for naming in fitted.name(graphs)] == [list("abcd")] * 4
