"""The same task gives the same model and the same report in Python as in the program; and "auto" means the same in both."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import homolog as hm
from homolog import _core

from conftest import ROOT

DATA = Path(os.environ.get("HOMOLOG_DATA", ROOT.parent / "shared/data"))


def rotated(shapes: list[np.ndarray], names: list[str], rng: np.random.Generator) -> list[hm.Graph]:
    """Every specimen rotated at random."""
    graphs = []
    for points in shapes:
        angle = rng.uniform(0, 2 * np.pi)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        graphs.append(hm.Graph(points @ turn.T, names=names))
    return graphs


def pairs_of(graphs: list[hm.Graph]) -> tuple[list[tuple[hm.Graph, hm.Graph]], list[list[int]]]:
    """All pairs; node k is the same landmark everywhere."""
    pairs = [(left, right) for at, left in enumerate(graphs) for right in graphs[at + 1 :]]
    return pairs, [list(range(len(left.names or []))) for left, _ in pairs]


def made(count: int, rng: np.random.Generator) -> list[np.ndarray]:
    shape = rng.uniform(-1, 1, (9, 2))
    return [shape + rng.normal(0, 0.02, shape.shape) for _ in range(count)]


def test_auto_finds_the_rotation_of_specimens_by_itself(rng: np.random.Generator) -> None:
    graphs = rotated(made(8, rng), [f"p{k}" for k in range(9)], rng)
    pairs, truth = pairs_of(graphs)
    model = hm.Matcher().fit(pairs, truth)
    assert model.score(pairs, truth) > 0.98, model.fit_report_


def test_auto_finds_the_rotation_of_mosquitoes(rng: np.random.Generator) -> None:
    table = DATA / "specimens/mosquitoes/landmarks.csv"
    if not table.is_file():
        pytest.skip(f"there is no data in {DATA}")
    graphs = list(hm.load(table).graphs.values())[:8]
    shapes = [np.asarray(graph.points) for graph in graphs]
    pairs, truth = pairs_of(rotated(shapes, list(graphs[0].names or []), rng))
    model = hm.Matcher().fit(pairs, truth)
    assert model.score(pairs, truth) > 0.98, model.fit_report_


@pytest.mark.parametrize("settings", [{}, {"features": "linear", "lambdas": [0.5]}, {"features": "atlas"}, {"features": "linear", "unmatched": True}])
def test_the_program_and_python_give_the_same_bytes(program: Path, tmp_path: Path, rng: np.random.Generator, settings: dict[str, Any]) -> None:
    graphs = [
        {"id": f"s{n}", "points": points.tolist(), "names": [f"p{k}" for k in range(9)]} for n, points in enumerate(made(5, rng))
    ]
    data = {"format": {"kind": "homolog-data", "version": 1}, "graphs": graphs, "pairs": []}
    text = json.dumps({"data": data, "settings": {"time_limit": 1e6, **settings}})
    (tmp_path / "task.json").write_text(text, encoding="utf-8")
    run = subprocess.run(
        [program, "train", "--task", "task.json", "-o", "model.json", "--json"], cwd=tmp_path, capture_output=True, check=True
    )
    trained = _core.run_task(text, None)
    assert (tmp_path / "model.json").read_text(encoding="utf-8") == trained.model_json()
    assert run.stdout.decode() == trained.report_json() + "\n"


FILES = ["house/landmarks.csv", "faces/landmarks.csv", "wings/wings.tps", "mocap/walk.trc"]
FILES += ["bikes/landmarks.csv", "turntable"]
FILES += [f"specimens/{name}/landmarks.csv" for name in ("face3d", "hummingbirds", "lizards", "mosquitoes", "worms")]
CASES = [(file, features) for file in FILES for features in ("linear", "atlas")]
CASES += [(file, "auto") for file in ("wings/wings.tps", "turntable", "specimens/mosquitoes/landmarks.csv")]


@pytest.mark.parametrize(("file", "features"), CASES)
def test_the_program_and_python_give_the_same_bytes_on_real_data(program: Path, tmp_path: Path, file: str, features: str) -> None:
    is_file = file != "turntable"
    if is_file and not (DATA / file).is_file():
        pytest.skip(f"there is no data in {DATA}")
    # Several columns of the bicycles could name the graph.
    columns: dict[str, Any] = {"graph": "object", "landmark": "name", "ignore": ["image", "facing", "landmark"]}
    data = json.loads(hm.load(DATA / file if is_file else file, **columns if file.startswith("bikes") else {}).to_json())
    data["graphs"], data["pairs"] = data["graphs"][:4], []
    text = json.dumps({"data": data, "settings": {"features": features}})
    (tmp_path / "task.json").write_text(text, encoding="utf-8")
    command = [program, "train", "--task", "task.json", "-o", "model.json", "--json"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    trained = _core.run_task(text, None)
    assert (tmp_path / "model.json").read_text(encoding="utf-8") == trained.model_json()
    assert run.stdout.decode() == trained.report_json() + "\n"


def test_what_is_left_out_is_said(rng: np.random.Generator) -> None:
    names = [f"p{k}" for k in range(9)]
    shapes = made(4, rng)
    shapes[2] = shapes[2] @ np.array([[-1.0, 0.0], [0.0, -1.0]])
    pairs, truth = pairs_of([hm.Graph(points, names=names) for points in shapes])
    report = hm.Matcher("linear").fit(pairs, truth).fit_report_
    assert report.fields["left_out"]["rotated_pairs"] == 3
    assert "3 of 6 pairs were not learned from" in str(report)


@pytest.mark.parametrize("lam", [float("nan"), -1.0, 0.0, [1.0, float("inf")]])
def test_a_lambda_that_is_not_positive_is_refused(lam: Any, rng: np.random.Generator) -> None:
    left, right = made(2, rng)
    with pytest.raises(hm.MatchError, match="must be positive"):
        hm.Matcher("linear", lam=lam).fit([(left, right)], [list(range(9))])
