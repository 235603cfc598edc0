"""Pictures of matches, weights and training paths: matplotlib axes in, axes out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import MatchError
from ._graph import GraphLike, as_graph

__all__ = ["matches", "path", "weights"]

#: Colours that colour-blind people can tell apart (Okabe and Ito).
GOOD, BAD, QUIET, ACCENT = "#009E73", "#D55E00", "#9AA0A6", "#0072B2"


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.gca()


def matches(
    left: GraphLike,
    right: GraphLike,
    match: Any,
    *,
    images: Any = None,
    truth: Any = None,
    ax: Any = None,
    names: bool = False,
) -> Any:
    """Draws two point sets side by side and a line for each matched pair.

    Parameters
    ----------
    left, right : graphs with points in the plane
    match : Match, or array of the right node of each left node (-1 for none)
    images : (left, right), optional
        Pictures to draw underneath: arrays, or paths of files.
    truth : array of the right node of each left node, optional
        Wrong pairs are then drawn in another colour.
    ax : matplotlib axes, optional
    names : bool, default False
        Write the names of the nodes next to them.

    Returns
    -------
    matplotlib axes
    """
    axes = _axes(ax)
    graphs = [as_graph(left), as_graph(right)]
    if any(graph.points is None for graph in graphs):
        raise MatchError("only graphs with points can be drawn")
    points = [np.asarray(graph.points)[:, :2] for graph in graphs]
    assignment = np.asarray(getattr(match, "assignment", match))
    known = None if truth is None else np.asarray(getattr(truth, "assignment", truth))
    pictures = [None if images is None else _picture(images[side]) for side in (0, 1)]
    boxes = [_box(points[side], pictures[side]) for side in (0, 1)]
    shift = boxes[0][1][0] - boxes[1][0][0] + 0.08 * (boxes[0][1][0] - boxes[0][0][0])
    moved = [points[0], points[1] + [shift, 0.0]]
    for side, picture in enumerate(pictures):
        if picture is not None:
            x = shift if side else 0.0
            axes.imshow(picture, extent=(x, x + picture.shape[1], picture.shape[0], 0), cmap="gray", zorder=0)
    for side, graph in enumerate(graphs):
        for i, j in graph.edges:
            if i < j:
                axes.plot(*moved[side][[i, j]].T, color=QUIET, lw=0.6, alpha=0.6, zorder=1)
    for i, k in enumerate(assignment):
        if k < 0:
            continue
        wrong = known is not None and known[i] != -2 and known[i] != k
        axes.plot(*np.stack([moved[0][i], moved[1][k]]).T, color=BAD if wrong else GOOD, lw=1.1, alpha=0.85, zorder=2)
    for side in (0, 1):
        taken = assignment >= 0 if side == 0 else np.isin(np.arange(len(points[1])), assignment)
        axes.scatter(*moved[side][taken].T, s=22, color=ACCENT, edgecolor="white", linewidth=0.6, zorder=3)
        axes.scatter(*moved[side][~taken].T, s=22, facecolor="white", edgecolor=ACCENT, linewidth=0.9, zorder=3)
        labels = graphs[side].names
        if names and labels is not None:
            for place, label in zip(moved[side], labels):
                axes.annotate(label, place, xytext=(3, 3), textcoords="offset points", fontsize=7, color="#333333")
    axes.set_aspect("equal")
    # Rows of a picture are counted from the top, and so are points that were found in one.
    in_pictures = any(picture is not None for picture in pictures) or any(graph.image_size for graph in graphs)
    if in_pictures and not axes.yaxis_inverted():
        axes.invert_yaxis()
    axes.set_axis_off()
    count = int(np.sum(assignment >= 0))
    title = f"{count} of {len(assignment)} matched"
    if known is not None:
        judged = (known >= 0) & (known != -2)
        title += f", {int(np.sum(judged & (known != assignment)))} wrong"
    axes.set_title(title, fontsize=10)
    return axes


def weights(model: Any, *, ax: Any = None, most: int = 20) -> Any:
    """Draws the weights of a model as bars, the largest `most` of them."""
    axes = _axes(ax)
    values, labels = np.asarray(model.weights_), list(model.feature_names_)
    order = np.argsort(-np.abs(values))[:most][::-1]
    colours = [ACCENT if values[at] >= 0 else BAD for at in order]
    axes.barh([labels[at] for at in order], values[order], color=colours)
    axes.axvline(0, color="#333333", lw=0.8)
    axes.set_xlabel("weight")
    axes.tick_params(axis="y", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def path(model: Any, *, ax: Any = None) -> Any:
    """Draws the error on held-out pairs against λ, for every learner that was tried."""
    axes = _axes(ax)
    candidates = model.fit_report_.candidates
    before = [candidate for candidate in candidates if candidate["lambda"] is None and candidate["error"] is not None]
    if before:
        axes.axhline(before[0]["error"], color=QUIET, ls="--", lw=1.2, label="before learning")
    learners = sorted({candidate["learner"] for candidate in candidates if candidate["lambda"] is not None})
    for learner, colour in zip(learners, (ACCENT, GOOD, BAD)):
        own = [c for c in candidates if c["learner"] == learner and c["error"] is not None]
        if not own:
            continue
        x, y = [c["lambda"] for c in own], [c["error"] for c in own]
        spread = [c["standard_error"] for c in own]
        axes.errorbar(x, y, yerr=spread, color=colour, marker="o", ms=4, lw=1.4, capsize=2, label=learner)
    for chosen in (c for c in candidates if c["chosen"] and c["lambda"] is not None and c["error"] is not None):
        axes.scatter([chosen["lambda"]], [chosen["error"]], s=130, facecolor="none", edgecolor="#333333", zorder=5)
    axes.set_xscale("log")
    axes.set_xlabel("λ")
    axes.set_ylabel("error on held-out pairs")
    axes.spines[["top", "right"]].set_visible(False)
    if before or learners:
        axes.legend(frameon=False, fontsize=8)
    return axes


def _picture(given: Any) -> Any:
    if given is None or hasattr(given, "shape"):
        return given
    import matplotlib.image

    return matplotlib.image.imread(given)


def _box(points: Any, picture: Any) -> tuple[Any, Any]:
    if picture is not None:
        return np.zeros(2), np.array([picture.shape[1], picture.shape[0]], dtype=float)
    if len(points) == 0:
        return np.zeros(2), np.ones(2)
    return points.min(axis=0), np.maximum(points.max(axis=0), points.min(axis=0) + 1e-9)
