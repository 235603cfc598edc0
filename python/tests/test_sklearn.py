"""scikit-learn's tools on an estimator whose samples are pairs of graphs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import homolog as hm

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_predict, cross_val_score  # noqa: E402
from sklearn.pipeline import Pipeline, make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer  # noqa: E402
from sklearn.utils import estimator_checks  # noqa: E402

# The generic checks that do not fit a table of numbers. The others do, which is not a list of pairs; our own versions are below.
CHECKS = [
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_unfitted",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.mark.parametrize("name", CHECKS)
def test_generic(name):
    getattr(estimator_checks, name)("Matcher", hm.Matcher())


@pytest.mark.parametrize("first", ["homolog", "sklearn.base"])
def test_estimators_are_base_estimators_in_any_order_of_imports(first):
    program = f"""
import sys, {first}
if {first!r} == "homolog":
    assert "sklearn" not in sys.modules
    early = homolog.Matcher(lam=0.5)
import homolog as hm
from sklearn.base import BaseEstimator, clone
for one in [hm.Matcher(lam=0.5), hm.Atlas()] + ([early] if {first!r} == "homolog" else []):
    assert isinstance(one, BaseEstimator) and type(clone(one)) is type(one)
    assert clone(one).get_params() == one.get_params()
assert not any(type(finder).__module__.startswith("homolog") for finder in sys.meta_path)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_notebooks_show_the_report(data):
    IPython = pytest.importorskip("IPython")
    shown, _ = IPython.core.formatters.DisplayFormatter().format(clone(MODEL).fit(*data))
    assert "<table" in shown["text/html"], shown


@pytest.fixture(scope="module")
def data(frames):
    chosen = frames.pairs_apart(85)
    return chosen.pairs[:6], chosen.y[:6]


MODEL = hm.Matcher("paper-linear", lam=0.01, folds=0)


def test_clone_is_unfitted_and_equal(data):
    fitted = clone(MODEL).fit(*data)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params() and not hasattr(copy, "weights_")


def test_fit_returns_self_and_changes_no_settings(data):
    model = clone(MODEL)
    before = model.get_params()
    assert model.fit(*data) is model and model.get_params() == before


def test_fit_twice_is_fit_once(data):
    once, twice = clone(MODEL).fit(*data), clone(MODEL).fit(*data).fit(*data)
    assert once.to_json() == twice.to_json()


def test_predict_of_a_part_is_part_of_predict(data):
    pairs, y = data
    model = clone(MODEL).fit(pairs[:4], y[:4])
    whole = model.predict(pairs)
    assert all(np.array_equal(model.predict([pair])[0], own) for pair, own in zip(pairs, whole))
    assert [own.shape for own in whole] == [(30,)] * len(pairs)


def test_the_data_are_not_changed(data):
    pairs, y = data
    before = [own.copy() for own in y]
    clone(MODEL).fit(pairs, y)
    assert all(np.array_equal(own, old) for own, old in zip(y, before))


def test_cross_validation(data):
    pairs, y = data
    scores = cross_val_score(MODEL, pairs, y, cv=KFold(3))
    assert scores.shape == (3,) and (scores > 0.2).all() and (scores <= 1).all()
    groups = [at % 4 for at in range(len(pairs))]
    assert len(cross_val_score(MODEL, pairs, y, groups=groups, cv=GroupKFold(4))) == 4
    assert len(cross_val_predict(MODEL, pairs, y, cv=3)) == len(pairs)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_grid_search(data, n_jobs):
    search = GridSearchCV(MODEL, {"lam": [1.0, 0.01]}, cv=2, n_jobs=n_jobs).fit(*data)
    assert search.best_params_["lam"] in (1.0, 0.01)
    assert search.best_estimator_.score(*data) == pytest.approx(search.score(*data))


def test_pipelines(data):
    pairs, y = data
    scale = FunctionTransformer(lambda all: [(hm.Graph(l.points * 2), hm.Graph(r.points * 2)) for l, r in all])
    model = make_pipeline(scale, clone(MODEL)).fit(pairs[:4], y[:4])
    assert isinstance(model, Pipeline) and 0 <= model.score(pairs, y) <= 1
    assert model.set_params(matcher__lam=0.5).get_params()["matcher__lam"] == 0.5


def test_errors_are_scikit_learns_too(data):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        hm.Matcher().predict(data[0])
    with pytest.raises(ValueError, match="Invalid parameter"):
        hm.Matcher().set_params(nonsense=1)
    with pytest.raises(ValueError, match="list of pairs"):
        hm.Matcher().fit(np.ones((10, 3)), np.ones(10))


def test_metadata_routing(data):
    pairs, y = data
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(FunctionTransformer(), clone(MODEL)).fit(pairs[:4], y[:4])
        assert 0 <= model.score(pairs, y) <= 1
        last = clone(MODEL).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        weights = np.array([1.0, 0.0, 0.0, 0.0])
        routed = make_pipeline(FunctionTransformer(), clone(last)).fit(pairs[:4], y[:4], sample_weight=weights)
        assert routed[-1].to_json() == clone(MODEL).fit(pairs[:4], y[:4], sample_weight=weights).to_json()
        weighted = routed.score(pairs[4:], y[4:], sample_weight=np.array([1.0, 0.0]))
        assert weighted == pytest.approx(routed[-1].score(pairs[4:5], y[4:5]))
    with pytest.raises(TypeError, match="takes no sample_weight"):
        hm.Atlas().set_fit_request(sample_weight=True)
