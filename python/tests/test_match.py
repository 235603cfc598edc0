"""Matching without training, what notebooks show, and what goes to `logging`."""

from __future__ import annotations

import html
import logging

import numpy as np
import pytest

import homolog as hm


@pytest.mark.parametrize("features", ["linear", "quadratic", "robust"])
def test_points_match_their_jittered_copy(features):
    rng = np.random.default_rng(3)
    left = rng.uniform(0, 10, (12, 2))
    order = rng.permutation(12)
    right = (left + rng.normal(0, 0.02, left.shape))[order]
    match = hm.match(left, right, features)
    assert np.array_equal(order[match.assignment], np.arange(12))


def test_seeds_forbidden_pairs_and_names():
    left = hm.Graph([[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]], names=["a", "b", "c"])
    right = hm.Graph([[1.0, 3.1], [0.1, 0.0], [4.0, 0.2]], names=["z", "x", "y"])
    assert hm.match(left, right).names == {"a": "x", "b": "y", "c": "z"}
    assert hm.match(left, right, seeds={"a": "z"}).names["a"] == "z"
    assert hm.match(left, right, forbid=[(0, 1)]).assignment[0] != 1
    assert hm.match(left, right, method="linear", pose="any").status in ("optimal", "converged")


def test_networks():
    networkx = pytest.importorskip("networkx")
    left = networkx.Graph([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e")])
    right = networkx.relabel_nodes(left, dict(zip("abcde", "vwxyz")))
    match = hm.match(left, right, "graph")
    kept = sum(right.has_edge(match.names[i], match.names[k]) for i, k in left.edges)
    assert kept == left.number_of_edges()


def test_bad_settings_are_refused():
    with pytest.raises(ValueError):
        hm.match([[0.0, 0.0]], [[0.0, 0.0]], "nonsense")


def test_a_notebook_shows_a_table():
    match = hm.match(hm.Graph([[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]], names=["<a>", "b", "c"]), [[1.0, 3.1], [0.1, 0.0], [4.0, 0.2]])
    shown = match._repr_html_()
    assert "&lt;a&gt;" in shown and "<a>" not in shown and "margin" not in shown.split("<table>")[1]
    assert len(match.margins) == 3 and "<th>margin</th>" in match._repr_html_()
    many = hm.solve(np.eye(40))._repr_html_()
    assert many.count("<tr>") == 31 and "10 more" in many


def test_a_notebook_shows_every_result(frames, caplog):
    graphs = list(frames.graphs.values())
    with caplog.at_level(logging.INFO, logger="homolog"):
        atlas = hm.Atlas(learn_weights=False).fit(graphs[:40:10])
    assert atlas.report_ in caplog.text and html.escape(atlas.report_) in atlas._repr_html_()
    naming = atlas.name(graphs[25].points)
    model = hm.Matcher("paper-linear", lam=0.1, folds=0).fit(*(lists[:3] for lists in (frames.pairs_apart(85).pairs, frames.pairs_apart(85).y)))
    tables = {
        "Naming": naming._repr_html_(),
        "DataSet": frames._repr_html_(),
        "Graph": graphs[0]._repr_html_(),
        "Joined": hm.join([graph.points for graph in graphs[:24:8]])._repr_html_(),
        "least certain first": model.explain(graphs[0], graphs[20])._repr_html_(),
    }
    for title, shown in tables.items():
        assert title in shown and "<td>" in shown, title
    assert graphs[25].names[0] in tables["Naming"] and "81 more" in tables["DataSet"]
    take = hm.name_take(atlas, [graph.points for graph in graphs[:6]])
    assert take._repr_html_().count("<tr>") == (len(take.doubtful) + 1 if take.doubtful else 0)
    found = hm.check(frames)
    assert found._repr_html_() == f"<pre>{html.escape(str(found))}</pre>"


def test_training_is_logged_and_shown(frames, caplog):
    data = frames.pairs_apart(85)
    model = hm.Matcher("paper-linear", lam=0.01, folds=0)
    assert "Matcher" in model._repr_html_() and "<table>" not in model._repr_html_()
    with caplog.at_level(logging.DEBUG, logger="homolog"):
        model.fit(data.pairs[:3], data.y[:3])
    levels = {record.levelno for record in caplog.records if record.name == "homolog"}
    assert logging.INFO in levels
    assert model.fit_report_.sentence.split(".")[0] in caplog.text
    assert "<b>" in model._repr_html_()


def test_networks_that_share_only_some_nodes_and_have_kinds():
    networkx = pytest.importorskip("networkx")
    left = networkx.gnp_random_graph(40, 0.3, seed=1)
    right = networkx.relabel_nodes(left, {node: f"r{node}" for node in left})
    left.add_edges_from(("new", node) for node in (0, 5, 9, 20, 31))
    match = hm.match(left, right, "graph", method="frank-wolfe", unmatched=0.6)
    assert match.unmatched_left.tolist() == [40]
    assert match.assignment[:40].tolist() == list(range(40))
    assert len(hm.match(left, right, "graph", method="frank-wolfe").unmatched_left) == 1
    with pytest.raises(hm.MatchError, match="unmatched is nan: it must be a finite number"):
        hm.match(left, right, "graph", unmatched=float("nan"))
    # A ring, whose nodes nothing but their kinds tells apart.
    ring, turned = networkx.cycle_graph(7), networkx.cycle_graph(7)
    for node, kind in enumerate("aababbb"):
        ring.nodes[node]["kind"] = kind
        turned.nodes[(node + 3) % 7]["kind"] = kind
    assert list(hm.as_graph(ring).attributes) == ["kind=a", "kind=b"]
    assert hm.match(ring, turned, "graph").assignment.tolist() == [(node + 3) % 7 for node in range(7)]
    with pytest.warns(UserWarning, match="names, not kinds"):
        assert hm.Graph(attributes={"name": ["x", "y", "z"]}).attributes == {}


def test_quadratic_assignment_with_a_price():
    rng = np.random.default_rng(0)
    table = rng.random((6, 6))
    free = hm.quadratic_assignment(table, table, options={"maximize": True})
    out = hm.quadratic_assignment(table, table, options={"maximize": True, "unmatched": 100.0})
    assert (out.col_ind < 0).all() and out.fun == 600.0 and (free.col_ind >= 0).all()
