"""Matcher: learns, matches, explains, is saved and read back; the same bytes as the program's."""

from __future__ import annotations

import json
import pickle
import subprocess
import warnings

import numpy as np
import pytest

import homolog as hm


@pytest.fixture(scope="module")
def data(frames):
    return frames.pairs_apart(80)


@pytest.fixture(scope="module")
def fitted(data):
    return hm.Matcher("paper-linear", lam=[1.0, 0.01]).fit(data.pairs[:6], data.y[:6])


def test_learning_helps_on_pairs_it_has_not_seen(data, fitted):
    before = hm.Matcher("paper-linear", weights=np.ones(60)).fit(data.pairs[:1], data.y[:1])
    assert fitted.score(data.pairs[10:], data.y[10:]) >= before.score(data.pairs[10:], data.y[10:])
    assert np.array_equal(before.weights_, np.ones(60))


def test_what_is_known_after_a_fit(fitted):
    assert fitted.weights_.shape == (60,) and len(fitted.feature_names_) == 60
    assert np.isfinite(fitted.weights_).all() and (fitted.weights_ != 0).any()
    text = str(fitted.fit_report_)
    assert fitted.fit_report_.sentence in text and "<" in fitted.fit_report_._repr_html_()
    assert sum(candidate["chosen"] for candidate in fitted.fit_report_.candidates) == 1
    if fitted.lam_ is not None:
        assert fitted.bound_ <= fitted.objective_ + 1e-9 and fitted.certified_ and fitted.stop_ == "converged"
        assert fitted.n_iter_ == len(fitted.history_) and fitted.history_[-1]["objective"] == fitted.objective_


def test_predict_match_and_explain_agree(data, fitted):
    left, right = data.pairs[12]
    match = fitted.match(left, right)
    assert np.array_equal(match.assignment, fitted.predict([(left, right)])[0])
    assert match.status == "optimal" and match.names[left.names[0]] in right.names
    explanation = fitted.explain(left, right)
    margins = {reasons["left"]: reasons["margin"] for reasons in explanation.matches}
    assert [margins[i] for i in match.left] == pytest.approx(list(match.margins), abs=1e-9)
    assert sum(explanation.contributions(0).values()) == pytest.approx(explanation.matches[0]["margin"], abs=1e-9)
    assert left.names[0] in str(explanation)
    seeded = fitted.match(left, right, seeds={0: 5}, forbid=[[1, 1]])
    assert seeded.assignment[0] == 5 and seeded.assignment[1] != 1
    assert fitted.match(left, right, seeds={left.names[0]: right.names[5]}).assignment[0] == 5


def test_every_form_of_truth_is_the_same(data):
    pairs, y = data.pairs[:3], data.y[:3]
    forms = [
        y,
        [np.stack([np.arange(30), own], axis=1) for own in y],
        [{a: b for a, b in zip(left.names, np.array(right.names)[own])} for (left, right), own in zip(pairs, y)],
        [dict(enumerate(own.tolist())) for own in y],
        None,
    ]
    texts = {hm.Matcher("paper-linear", lam=0.1).fit(pairs, form).to_json() for form in forms}
    assert len(texts) == 1
    points = [(left.points, right.points) for left, right in pairs]
    assert hm.Matcher("paper-linear", lam=0.1).fit(points, y).weights_.shape == (60,)


def test_files_and_pickles_are_the_same_model(tmp_path, data, fitted):
    fitted.save(tmp_path / "model.json")
    for again in (hm.Matcher.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(fitted))):
        assert again.to_json() == fitted.to_json()
        assert np.array_equal(again.predict(data.pairs[20:22])[0], fitted.predict(data.pairs[20:22])[0])
        assert again.lam_ == fitted.lam_ and again.objective_ == fitted.objective_
    assert b"homolog-model" in pickle.dumps(fitted)
    (tmp_path / "broken.json").write_text("{}")
    with pytest.raises(hm.MatchError, match="not a usable model"):
        hm.Matcher.load(tmp_path / "broken.json")


@pytest.mark.parametrize("features", ["linear", "quadratic"])
def test_the_program_trains_the_same_bytes(tmp_path, frames, program, features):
    # Few landmarks, so that matching with edges is fast.
    record = lambda id, graph: {"id": id, "points": graph.points[:9].tolist(), "names": graph.names[:9]}
    graphs = [record(id, graph) for id, graph in frames.graphs.items()]
    pairs = [{"left": str(at), "right": str(at + 100)} for at in range(1, 8)]
    fields = {"format": {"kind": "homolog-data", "version": 1}, "graphs": graphs, "pairs": pairs}
    (tmp_path / "data.json").write_text(json.dumps(fields))
    data, model = hm.load(tmp_path / "data.json"), tmp_path / "model.json"
    command = [program, "train", tmp_path / "data.json", "-o", model, "--features", features, "--lambdas", "1,0.01"]
    subprocess.run([*map(str, command), "--folds", "3", "--quiet"], check=True, capture_output=True)
    ours = hm.Matcher(features, lam=[1, 0.01], folds=3).fit(data)
    assert ours.to_json() == model.read_text()
    by_pairs = hm.Matcher(features, lam=[1, 0.01], folds=3).fit(data.pairs, data.y)
    assert by_pairs.to_json() == model.read_text()
    assert hm.Matcher.load(model).to_json() == model.read_text()
    ours.save(tmp_path / "ours.json")
    evaluate = [str(program), "evaluate", str(tmp_path / "ours.json"), str(tmp_path / "data.json")]
    assert subprocess.run(evaluate, capture_output=True).returncode == 0


def test_the_number_of_threads_does_not_matter(data):
    texts = {hm.Matcher("quadratic", lam=0.1, n_jobs=jobs).fit(data.pairs[:4], data.y[:4]).to_json() for jobs in (1, 2, None)}
    assert len(texts) == 1


def test_sample_weight_counts(data):
    fit = lambda pairs, y, weight: hm.Matcher("paper-linear", lam=0.1, folds=0).fit(pairs, y, sample_weight=weight)
    zero = fit(data.pairs[:4], data.y[:4], [1, 1, 0, 0])
    assert not np.array_equal(zero.weights_, fit(data.pairs[:4], data.y[:4], None).weights_) or zero.lam_ is None
    with pytest.raises(hm.MatchError, match="importance"):
        fit(data.pairs[:2], data.y[:2], [-1, 1])


def test_attributes_alone(rng):
    pairs, y = [], []
    for _ in range(8):
        boxes = rng.random((6, 3))
        order = rng.permutation(6)
        later = boxes[order] + rng.normal(scale=[0.01, 0.3, 0.01], size=(6, 3))
        names = ["x", "flicker", "size"]
        pairs.append(tuple(hm.Graph(attributes=dict(zip(names, table.T))) for table in (boxes, later)))
        y.append(np.argsort(order))
    model = hm.Matcher("attributes").fit(pairs[:5], y[:5])
    assert model.score(pairs[5:], y[5:]) > 0.6
    assert any("flicker" in name for name in model.feature_names_)


def test_nodes_may_stay_unmatched(data):
    pairs = [(hm.Graph(left.points[:20], names=left.names[:20]), hm.Graph(right.points[5:], names=right.names[5:])) for left, right in data.pairs[:5]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hm.ConvergenceWarning)
        model = hm.Matcher("linear", unmatched=True).fit(pairs)
    assert "unmatched" in model.feature_names_
    assert model.match(*pairs[0]).assignment.shape == (20,)


def test_wrong_input_is_refused_when_fitted_and_not_before(data):
    with pytest.raises(hm.NotFittedError):
        hm.Matcher().predict(data.pairs)
    wrong = [
        (dict(features="magic"), "magic"),
        (dict(learner="magic"), "learner"),
        (dict(loss="magic"), "loss"),
        (dict(method="magic"), "settings|magic"),
        (dict(oracle="magic"), "oracle"),
        (dict(pose="magic"), "pose"),
        (dict(lam="magic"), "lam"),
        (dict(tolerance=-1), "tolerance"),
        (dict(folds=2.5), "folds"),
        (dict(n_jobs=0), "n_jobs"),
        (dict(n_jobs=100_000), "n_jobs is 100000: it must be at most 1024"),
        (dict(lam=float("nan")), "lam is nan: it must be positive"),
    ]
    for settings, message in wrong:
        model = hm.Matcher(**{"features": "paper-linear", **settings})
        with pytest.raises(hm.MatchError, match=message):
            model.fit(data.pairs[:2], data.y[:2])
    for pairs, y, message in [
        (np.ones((5, 2)), None, "2-D array"),
        ([], None, "no pairs"),
        ([data.pairs[0][0]], None, "position 0"),
        (data.pairs[:2], data.y[:1], "1 entries for 2 pairs"),
        (data.pairs[:1], [np.zeros(5, int)], "30 left nodes"),
        (data.pairs[:1], [np.zeros(30, int)], "one-to-one"),
        (data.pairs[:1], [{"nobody": "tip"}], "nobody"),
        (data.pairs[:1], [np.full(30, 99)], "out of range"),
    ]:
        with pytest.raises(hm.MatchError, match=message):
            hm.Matcher("paper-linear").fit(pairs, y)


def test_a_callback_hears_and_may_stop(data):
    heard = []
    model = hm.Matcher("quadratic", callback=lambda report: heard.append(report) or len(heard) > 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hm.ConvergenceWarning)
        model.fit(data.pairs, data.y)
    assert np.isfinite(model.weights_).all()
    assert all({"stage", "done"} <= set(report) for report in heard)
    failing = hm.Matcher("quadratic", callback=lambda report: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        failing.fit(data.pairs, data.y)


def test_warm_start_and_given_weights(data):
    model = hm.Matcher("paper-linear", lam=0.1, warm_start=True).fit(data.pairs[:3], data.y[:3])
    again = model.fit(data.pairs[:3], data.y[:3])
    assert again is model and np.isfinite(again.weights_).all()
    some = {model.feature_names_[0]: 2.5}
    held = hm.Matcher("paper-linear", lam=0.1, weights=some).fit(data.pairs[:3], data.y[:3])
    assert held.weights_[0] == 2.5
    with pytest.raises(hm.MatchError, match="weights"):
        hm.Matcher("paper-linear", weights=[1.0, 2.0]).fit(data.pairs[:1], data.y[:1])


def test_plots(data, fitted):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3)
    left, right = data.pairs[0]
    pictures = [np.zeros((240, 320)), np.zeros((240, 320))]
    drawn = hm.plot.matches(left, right, fitted.match(left, right), images=pictures, truth=data.y[0], ax=axes[0], names=True)
    assert drawn is axes[0] and "matched" in axes[0].get_title()
    assert hm.plot.weights(fitted, ax=axes[1]) is axes[1]
    assert hm.plot.path(fitted, ax=axes[2]) is axes[2]
    figure.canvas.draw()
    plt.close(figure)
    with pytest.raises(hm.MatchError, match="points"):
        hm.plot.matches(hm.Graph(nodes=2), hm.Graph(nodes=2), [0, 1])


def test_model_files_are_json(fitted):
    fields = json.loads(fitted.to_json())
    assert fields["format"]["kind"] == "homolog-model" and len(fields["weights"]) == 60


def test_losses_of_turned_pairs_are_those_of_their_matches(data):
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    turned = [(hm.Graph(left.points @ turn.T, names=left.names), right) for left, right in data.pairs[:4]]
    model = hm.Matcher("linear", pose="any").fit(turned[:2])
    for pair, loss in zip(turned, model.losses(turned)):
        found = model.match(*pair).assignment
        right = [pair[1].names[k] == name for name, k in zip(pair[0].names, found)]
        assert loss == pytest.approx(1 - np.mean(right))
    assert model.score(turned) > 0.9
