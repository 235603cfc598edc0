"""hm.check: what looks wrong in labelled specimens."""

from __future__ import annotations

from pathlib import Path

import homolog as hm
import numpy as np
import pytest


def write(path: Path, swap: int | None, count: int = 20) -> Path:
    rng = np.random.default_rng(1)
    shape = rng.normal(size=(9, 2))
    lines = ["specimen,landmark,x,y"]
    for s in range(count):
        points = shape + 0.02 * rng.normal(size=shape.shape)
        if s == swap:
            points[[2, 5]] = points[[5, 2]]
        lines += [f"s{s},p{k},{x},{y}" for k, (x, y) in enumerate(points)]
    path.write_text("\n".join(lines))
    return path


def test_a_swap_is_found(tmp_path: Path) -> None:
    report = hm.check(write(tmp_path / "wings.csv", 7))
    # Surest first; of 19 good specimens one may be listed by mistake.
    finding = next(iter(report))
    assert len(report) <= 2
    assert (finding.specimen, finding.kind, finding.landmarks) == ("s7", "swapped", ["p2", "p5"])
    assert "exchanging the names corrects it" in str(report)
    assert set(report.expected[7]) == {f"p{k}" for k in range(9)}


def test_names_are_mended_on_request(tmp_path: Path) -> None:
    good, bad = (hm.load(write(tmp_path / f"{swap}.csv", swap, 30)) for swap in (None, 7))
    report = hm.check(bad)
    for what in ("swaps", "names"):
        mended = report.fixed(what)
        assert mended.graphs["s7"].names == good.graphs["s7"].names
        assert np.array_equal(mended.graphs["s7"].points, good.graphs["s7"].points)
        assert np.array_equal(mended.graphs["s3"].points, good.graphs["s3"].points)
    assert not np.array_equal(bad.graphs["s7"].points, good.graphs["s7"].points)
    with pytest.raises(ValueError, match="swaps"):
        report.fixed("everything")


def test_too_few_specimens(tmp_path: Path) -> None:
    report = hm.check(hm.load(write(tmp_path / "wings.csv", None, 4)))
    assert report.false_alarms is None and len(report) == 0


def test_missing_file() -> None:
    with pytest.raises(OSError):
        hm.check("nowhere.csv")
