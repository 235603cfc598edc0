"""The package as a package: types, examples, the time an import takes, what it needs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import homolog as hm

FOLDER = Path(hm.__file__).parent


@pytest.mark.parametrize("name", [info.name for info in pkgutil.iter_modules(hm.__path__) if info.name != "_core"])
def test_examples_in_the_documentation(name):
    pytest.importorskip("pandas"), pytest.importorskip("networkx")
    result = doctest.testmod(importlib.import_module(f"homolog.{name}"))
    assert result.failed == 0


def test_examples_of_the_compiled_part():
    runner, finder = doctest.DocTestRunner(), doctest.DocTestFinder()
    tests = finder.find(hm.linear_sum_assignment, "linear_sum_assignment", module=False, globs={})
    assert sum(runner.run(test).attempted for test in tests) > 0 and runner.failures == 0


def test_everything_public_is_documented():
    for name in hm.__all__:
        assert getattr(hm, name).__doc__, name


def test_every_argument_and_member_is_documented():
    faults = []
    for name in hm.__all__:
        thing = getattr(hm, name)
        text = thing.__doc__ or ""
        if inspect.isfunction(thing):
            faults += [f"{name}({argument})" for argument in inspect.signature(thing).parameters if argument not in text]
        elif inspect.isclass(thing):
            members = {own: value for own, value in vars(thing).items() if not own.startswith("_") and (callable(value) or inspect.isdatadescriptor(value))}
            faults += [f"{name}.{own}" for own, value in members.items() if not value.__doc__]
            faults += [f"{name}.{own}" for own in getattr(thing, "__annotations__", {}) if not own.startswith("_") and own not in text]
    assert not faults


def test_import_is_cheap():
    script = """
import time, numpy
before = time.process_time()
import homolog, sys
print(time.process_time() - before)
heavy = {"scipy", "sklearn", "pandas", "matplotlib", "networkx", "tqdm"} & set(sys.modules)
assert not heavy, heavy
"""
    seconds = min(float(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout) for _ in range(3))
    assert seconds < 0.1


def test_types(tmp_path):
    pytest.importorskip("mypy")
    # From an empty folder: whatever is next to the installed package is not ours to check.
    settings = Path(__file__).parents[1] / "pyproject.toml"
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(settings), "-p", "homolog"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


CLIENT = """\
from typing import Any
import numpy as np
import homolog as hm

cost = np.array([[4.0, 1.0], [2.0, 0.0]])
row, col = hm.linear_sum_assignment(cost)
match = hm.solve(cost, unmatched=2.0, seeds={0: 1}, forbid=[(1, 1)])
points = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]])
found: hm.Match = hm.match(points, points, "quadratic", seeds={0: 0})
total: float = match.score + found.score
names: dict[str, str] = found.names
data = hm.load("turntable").pairs_apart(90)
model = hm.Matcher(lam=0.1, unmatched=True).fit(data.pairs[:3], data.y[:3])
share: float = model.score(data.pairs, data.y)
atlas = hm.Atlas(presence="complete").fit(list(data.graphs.values())[:3])
naming: hm.Naming = atlas.name(points)
surest: float = float(naming.confidence.max())
joined: hm.Joined = hm.join([points, points + 1.0])
same: list[tuple[int, int]] = joined.match(0, 1)
tracks = hm.Tracks([(1, [[0.0, 0.0, 2.0, 4.0]], [7]), (2, [[1.0, 0.0, 2.0, 4.0]], [7])])
links: list[tuple[int, int]] = tracks.links
for finding in hm.check("wings.csv"):
    kind: str = finding.kind

def listed(costs: Any) -> hm.Match:
    # A scipy.sparse matrix, which has no types.
    return hm.solve(costs, unmatched=2.0, gate=3.0)
"""


def test_types_of_a_program_that_uses_the_package(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "client.py").write_text(CLIENT)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "client.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_of_that_program_by_pyright(tmp_path):
    pytest.importorskip("pyright")
    (tmp_path / "client.py").write_text(CLIENT)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "client.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    if "errors," not in done.stdout:
        pytest.skip(f"pyright cannot be run here: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
    assert done.returncode == 0, done.stdout


def test_the_stub_is_that_of_the_built_module(tmp_path):
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "homolog._core"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
