"""scipy's own tests of linear_sum_assignment, from the installed package, against ours. None is left out."""

from __future__ import annotations

import pytest

import homolog as hm

pytest.importorskip("scipy")
from scipy.optimize.tests import test_linear_assignment as theirs  # noqa: E402

theirs.linear_sum_assignment = hm.linear_sum_assignment
globals().update({name: test for name, test in vars(theirs).items() if name.startswith("test_")})


def test_all_of_scipys_tests_are_here() -> None:
    count = sum(name.startswith("test_") for name in vars(theirs))
    assert count >= 10
