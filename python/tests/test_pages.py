"""The Python blocks of the pages that people read: each runs, in order, on small data of the kind that its page is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import homolog as hm

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(5)
SHAPE = RNG.normal(size=(8, 2))
NAMES = [f"p{k}" for k in range(8)]


def specimen(names: bool = True) -> hm.Graph:
    return hm.Graph(SHAPE + 0.01 * RNG.normal(size=SHAPE.shape), names=NAMES if names else None)


def take_of_frames(path: Path) -> None:
    """A TRC file of six frames of eight markers."""
    head = ["PathFileType\t4\t(X/Y/Z)\ttake7.trc", "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits", "100\t100\t6\t8\tmm"]
    head += ["Frame#\tTime\t" + "\t".join(f"{name}\t\t" for name in NAMES), "\t\t" + "\t".join(f"X{k}\tY{k}\tZ{k}" for k in range(1, 9)), ""]
    body = np.c_[SHAPE, SHAPE[:, 0]]
    rows = [f"{f + 1}\t{0.01 * f:.2f}\t" + "\t".join(f"{v:.5f}" for v in (body + 0.01 * f).ravel()) for f in range(6)]
    path.write_text("\n".join(head + rows) + "\n")


def detections(folder: Path) -> None:
    """Three people who walk for six frames, as a detector and as the truth have them."""
    rows = [(f, k + 1, 100 * k + 5 * f, 50 + 2 * f, 30, 80) for f in range(1, 7) for k in range(3)]
    text = lambda known: "".join(f"{f},{k if known else -1},{x},{y},{w},{h},1,-1,-1,-1\n" for f, k, x, y, w, h in rows)  # noqa: E731
    (folder / "gt.txt").write_text(text(True))
    (folder / "det.txt").write_text(text(False))


def names_of_python_md(folder: Path) -> dict[str, Any]:
    sparse = pytest.importorskip("scipy.sparse")
    cost = RNG.random((5, 6))
    boxes = np.c_[RNG.random((8, 2)) * 100, np.full((8, 2), 30.0)]
    looks = RNG.random((8, 3))
    specimens = [specimen() for _ in range(5)]
    pairs = [(specimen(), specimen()) for _ in range(6)]
    take_of_frames(folder / "take7.trc")
    body = hm.Graph(np.c_[SHAPE, SHAPE[:, 0]], names=NAMES)
    hm.Atlas(learn_weights=False).fit([body]).save(folder / "walker.model.json")
    return {
        "cost": cost, "costs": RNG.random((3, 5, 5)), "sparse_cost": sparse.csr_array(RNG.random((6, 6))),
        "before": SHAPE, "after": SHAPE[::-1] + 0.1, "pairs": pairs, "y": [np.arange(8)] * 6, "left": SHAPE, "right": SHAPE,
        "batches": [pairs[:2], pairs[2:]], "specimens": specimens, "points": specimen(False).points, "one": specimens[0], "other": specimens[1],
        "frames": [(boxes + at, boxes + at + 1, looks, looks) for at in range(6)],
    }  # fmt: skip


def names_of_tracks_md(folder: Path) -> dict[str, Any]:
    detections(folder)
    tracks = hm.Tracks.read(folder / "det.txt", truth=folder / "gt.txt")
    return {"features": tracks.X[0], "match": tracks.y[0], "before": SHAPE, "after": SHAPE[::-1] + 0.1}


def names_of_pictures_md(folder: Path) -> dict[str, Any]:
    corners = np.array([[20.0, 20.0], [60.0, 22.0], [58.0, 61.0], [22.0, 58.0]])
    pictures = []
    for _ in range(2):
        picture = np.full((80, 80), 30, dtype=np.uint8)
        picture[20:60, 21:59] = 200
        pictures.append(picture)
    graphs = [hm.Graph(corners + shift, names=["a", "b", "c", "d"]) for shift in (0.0, 0.2)]
    return {"graphs": graphs, "arrays": pictures, "new_picture": pictures[0]}


def empty(_: Path) -> dict[str, Any]:
    return {}


@pytest.mark.parametrize(
    "page, names",
    [
        ("README.md", empty),
        ("python/README.md", empty),
        ("docs/python.md", names_of_python_md),
        ("docs/tracks.md", names_of_tracks_md),
        ("docs/pictures.md", names_of_pictures_md),
    ],
)
def test_the_python_lines_of_a_page_run(page, names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    assert blocks
    known = {"hm": hm, "np": np, **names(tmp_path)}
    for block in blocks:
        exec(block, known)
