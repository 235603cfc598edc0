"""scipy's own tests of min_weight_full_bipartite_matching, from the installed package, against ours. None is left out."""

from __future__ import annotations

import pytest

import homolog as hm

pytest.importorskip("scipy")
from scipy.sparse.csgraph.tests import test_matching as theirs  # noqa: E402

theirs.min_weight_full_bipartite_matching = hm.min_weight_full_bipartite_matching
NAMES = ("test_min_weight_", "test_explicit_zero_")
globals().update({name: test for name, test in vars(theirs).items() if name.startswith(NAMES)})


def test_all_of_scipys_tests_are_here() -> None:
    source = open(theirs.__file__, encoding="utf-8").read()
    found = [name for name in vars(theirs) if name.startswith(NAMES)]
    assert len(found) >= 5
    for name, test in vars(theirs).items():
        if name.startswith("test_") and "min_weight_full_bipartite_matching" in test.__code__.co_names:
            assert name in found, source
