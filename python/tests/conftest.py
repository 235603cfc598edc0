"""What the tests share: where real data and the program are, if they are available."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import homolog as hm

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def program() -> Path:
    """The program, built by cargo."""
    names = [os.environ.get("HOMOLOG_PROGRAM"), ROOT / "target/debug/homolog", ROOT / "target/quick/homolog"]
    found = [Path(name) for name in names if name and Path(name).is_file()]
    if not found:
        pytest.skip("the program is not built (cargo build -p homolog-cli)")
    return found[0]


@pytest.fixture(scope="session")
def frames() -> hm.DataSet:
    """The built-in sequence."""
    return hm.load("turntable")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)
