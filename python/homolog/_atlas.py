"""Atlas: learns where each named point belongs, then names the points of a new specimen."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._data import DataSet
from ._errors import MatchError
from ._estimator import Estimator
from ._graph import Graph, as_graph
from ._naming import Found, Naming
from ._progress import LOGGER, Progress
from ._report import Explanation
from ._solve import threads

Names = list["str | None"]


class Atlas(Estimator):
    """Learns from labelled specimens where each named point is and how much that varies, then names the points of new ones.

    Parameters
    ----------
    pose : {"auto", "as-given", "tilted", "rotated", "any"}
        How specimens may be oriented: all alike, rotated by up to 45°, by any angle, or rotated and mirrored. "auto" determines it from
        the specimens.
        Size and position are always free.
    presence : {"auto", "complete", "partial"}
        Whether every landmark is present and nothing else. "auto" decides for each new specimen; if a training specimen lacks a
        landmark or has a point without a name, new ones are partial.
    edges : int or "auto"
        Edges that each landmark chooses.
    prior : float or "auto"
        How many specimens the prior of the spreads is worth; "auto" chooses it by leaving out each specimen in turn.
    learn_weights : bool, default True
        Whether to learn how much each kind of evidence (positions, edges, attributes) counts; what is learned is used only if it
        names left-out specimens clearly better.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    verbose : int, default 0
        Shows progress, with tqdm if it is installed.
    callback : callable, optional
        Called with a dict now and then during `fit`; if it returns true, `fit` ends with the best so far: names without confidences.

    Attributes
    ----------
    landmarks_ : list of str
        The learned names.
    mean_shape_ : numpy.ndarray, shape (n, 2) or (n, 3)
        Their mean positions, in the frame of the atlas: root-mean-square radius 1 about the origin.
    covariances_ : numpy.ndarray, shape (n, d, d)
        How much each position varies.
    edges_ : list of (str, str)
        The pairs of landmarks whose displacement is used.
    pose_, presence_ : str
        What was determined from the specimens.
    weights_, feature_names_
        How much each kind of evidence counts.
    n_specimens_ : int
        How many specimens it was learned from.
    report_ : str
        What `fit` found, in words.

    Examples
    --------
    >>> import homolog as hm
    >>> frames = list(hm.load("turntable").graphs.values())
    >>> atlas = hm.Atlas().fit(frames[0:50:10])
    >>> atlas
    Atlas()
    >>> names = atlas.predict(frames[25].points)
    >>> names == frames[25].names
    True
    >>> atlas.name(frames[25].points).status
    'optimal'
    """

    def __init__(
        self,
        pose: str = "auto",
        *,
        presence: str = "auto",
        edges: int | str = "auto",
        prior: float | str = "auto",
        learn_weights: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.pose = pose
        self.presence = presence
        self.edges = edges
        self.prior = prior
        self.learn_weights = learn_weights
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    # -- learning ---------------------------------------------------------------------------------------------------------------

    def fit(self, specimens: Any, y: Any = None, *, unlabelled: Any = (), pictures: Any = None) -> Atlas:
        """Learns from labelled specimens.

        Parameters
        ----------
        specimens : sequence of graphs, or DataSet
            Each a :class:`Graph` with points and names, or anything that can be read as one; arrays of points if `y` has the names. A point
            with an empty name contributes only to the background.
        y : sequence of sequence of str or None, optional
            The names of the points of each specimen, instead of those the graphs have; None for a point without a name.
        unlabelled : sequence of graphs or arrays of points, or DataSet, optional
            Further specimens to learn from; their names are ignored. Used only if held-out specimens do not become less
            likely; `report_` says what changed.
        pictures : sequence of array, optional
            The picture of each specimen, grey or colour, points in its pixels (y down). With these, :meth:`find` finds the landmarks
            in pictures without any points.

        Returns
        -------
        self
        """
        graphs = _labelled(specimens, y)
        with Progress(self.verbose, self.callback) as progress:
            model, self.report_ = _core.train_atlas(
                [graph._graph for graph in graphs],
                [graph._graph for graph in _graphs(unlabelled)],
                None if pictures is None else [_grey(picture) for picture in pictures],
                self._settings(),
                threads(self.n_jobs),
                progress.callback,
            )
        self._set(model)
        LOGGER.info("%s", self.report_)
        return self

    def _settings(self) -> str:
        """The settings, checked here and not when they are stored."""
        if self.edges != "auto" and not (isinstance(self.edges, (int, np.integer)) and self.edges >= 0):
            raise MatchError(f"edges is {self.edges!r}: it must be a whole number or 'auto'")
        if self.prior != "auto" and not isinstance(self.prior, (int, float, np.number)):
            raise MatchError(f"prior is {self.prior!r}: it must be a number or 'auto'")
        fields = {
            "pose": None if self.pose == "auto" else self.pose,
            "presence": None if self.presence == "auto" else self.presence,
            "edges": None if isinstance(self.edges, str) else int(self.edges),
            "prior": None if isinstance(self.prior, str) else float(self.prior),
            "plain": not self.learn_weights,
        }
        return json.dumps(fields)

    def _set(self, model: _core.Model) -> None:
        fields = json.loads(model.to_json()).get("atlas")
        if fields is None:
            raise MatchError("the model has no atlas: it matches, it does not name; use Matcher")
        self._model = model
        d: int = fields["dimension"]
        self.landmarks_: list[str] = [landmark["name"] for landmark in fields["landmarks"]]
        self.mean_shape_: NDArray[np.float64] = np.array([landmark["position"]["mean"] for landmark in fields["landmarks"]])
        upper = np.triu_indices(d)
        precisions = np.zeros((len(self.landmarks_), d, d))
        for own, landmark in zip(precisions, fields["landmarks"]):
            own[upper] = landmark["position"]["precision"]
            own.T[upper] = landmark["position"]["precision"]
        self.covariances_: NDArray[np.float64] = np.asarray(np.linalg.inv(precisions), dtype=np.float64)
        ends = [edge["ends"] for edge in fields["edges"]]
        self.edges_: list[tuple[str, str]] = [(self.landmarks_[i], self.landmarks_[j]) for i, j in ends]
        self.pose_: str = fields["pose"]
        self.presence_: str = fields["presence"]
        self.n_specimens_: int = fields["specimens"]
        self.weights_: NDArray[np.float64] = model.weights
        self.feature_names_: list[str] = model.weight_names

    # -- naming -----------------------------------------------------------------------------------------------------------------

    def predict(self, points: Any, *, presence: str | None = None, time_limit: float | None = None) -> Any:
        """The name of each point, None if it has none: a list for one specimen, a list of such lists for several.

        Parameters
        ----------
        points : a graph or array of points, or a sequence of these, or DataSet
            Names in them are ignored.
        presence : {"auto", "complete", "partial"}, optional
            Overrides the presence that the atlas was learned for.
        time_limit : float, optional
            Seconds, for all of them together; after that the best so far is used.
        """
        found = self.name(points, presence=presence, time_limit=time_limit)
        return found.names if isinstance(found, Naming) else [naming.names for naming in found]

    def name(
        self,
        points: Any,
        *,
        presence: str | None = None,
        candidates: float | None = None,
        time_limit: float | None = None,
    ) -> Any:
        """Names with confidence, runner-up and proof: a :class:`Naming` for one specimen, a list of them for several.

        Parameters
        ----------
        points, presence, time_limit : as for :meth:`predict`
        candidates : float, optional
            Such as 0.95: list for each point names that include the true one this often (`Naming.sets`).
        """
        model = self._fitted()
        one = _is_one(points)
        graphs = [as_graph(points)] if one else _graphs(points)
        own = [graph._graph for graph in graphs]
        texts = _core.name_points(model, own, presence, candidates, time_limit, threads(self.n_jobs))
        namings = [Naming(text) for text in texts]
        return namings[0] if one else namings

    def find(self, picture: Any) -> Found:
        """Where the landmarks are in a picture without any points: for an atlas that was fitted with `pictures`.

        Parameters
        ----------
        picture : array, shape (height, width) or (height, width, 3 or 4)
            Grey or colour, 0 to 255; what matplotlib, imageio, Pillow or OpenCV read.
        """
        return Found(_core.find_points(self._fitted(), [_grey(picture)], threads(self.n_jobs))[0])

    def explain(self, points: Any) -> Explanation:
        """Why each landmark was given its point, the least certain first."""
        model = self._fitted()
        fields = json.loads(_core.explain_naming(model, as_graph(points)._graph, threads(self.n_jobs)))
        return Explanation(fields, self.feature_names_, (self.landmarks_, None))

    def score(self, specimens: Any, y: Any = None) -> float:
        """The share of named points that got their name. A point without a name in the data does not count."""
        graphs = _labelled(specimens, y)
        right = named = 0
        for graph, naming in zip(graphs, self.name(graphs)):
            for true, found in zip(graph.names or [], naming.names):
                named += true != ""
                right += true != "" and true == found
        return right / named if named else 1.0

    # -- files ------------------------------------------------------------------------------------------------------------------

    @classmethod
    def from_json(cls, text: str) -> Atlas:
        """An atlas from the text of a model file."""
        atlas = cls()
        atlas._set(_core.Model.from_json(text))
        return atlas

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Atlas:
        """Reads a model file written by Python or by the program."""
        return cls.from_json(Path(path).read_text(encoding="utf-8-sig"))


def _grey(picture: Any) -> NDArray[np.uint8]:
    """A picture as grey levels, by the weights that the program uses (Rec. 709)."""
    array = np.asarray(picture)
    if array.ndim == 3 and array.shape[2] in (3, 4):
        array = array[..., :3] @ np.array([0.2126, 0.7152, 0.0722])
    if array.ndim != 2 or array.dtype.kind not in "uif":
        raise MatchError(f"a picture is an array of (height, width) or (height, width, 3) numbers; found shape {array.shape}")
    if array.size and not (np.isfinite(array).all() and 0 <= array.min() and array.max() <= 255):
        raise MatchError("a picture has values from 0 to 255")
    return np.ascontiguousarray(np.rint(array), dtype=np.uint8)


def _are_named(thing: Any) -> bool:
    """Whether these are graphs by name, as `DataSet.graphs` has them."""
    return isinstance(thing, Mapping) and bool(thing) and all(isinstance(graph, Graph) for graph in thing.values())


def _is_one(thing: Any) -> bool:
    """Whether this is one specimen: a graph, a table of coordinates, or rows of them; not a sequence of specimens."""
    if isinstance(thing, DataSet) or _are_named(thing):
        return False
    if isinstance(thing, (Graph, _core.Graph, Mapping)) or hasattr(thing, "columns") or hasattr(thing, "nodes"):
        return True
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        return thing.ndim <= 2
    if isinstance(thing, (str, bytes)) or not hasattr(thing, "__iter__"):
        return False
    first = next(iter(thing), None)
    return first is None or (isinstance(first, (Sequence, np.ndarray)) and all(np.ndim(x) == 0 for x in first))


def _graphs(specimens: Any) -> list[Graph]:
    if isinstance(specimens, DataSet):
        return list(specimens.graphs.values())
    if _are_named(specimens):
        return list(specimens.values())
    if isinstance(specimens, (str, bytes)) or not hasattr(specimens, "__len__"):
        raise MatchError(f"expected a list of specimens, each a graph or an array of points; found {type(specimens).__name__}")
    return [as_graph(specimen) for specimen in specimens]


def _labelled(specimens: Any, y: Any) -> list[Graph]:
    """Specimens with names; those of `y` if it is given."""
    graphs = [as_graph(specimens)] if _is_one(specimens) and y is None else _graphs(specimens)
    if y is None:
        return graphs
    if len(y) != len(graphs):
        raise MatchError(f"y has {len(y)} entries for {len(graphs)} specimens")

    def labelled(graph: Graph, names: Any) -> Graph:
        given = ["" if name is None else str(name) for name in names]
        return Graph(graph.points, names=given, attributes=graph.attributes or None, image_size=graph.image_size)

    return [labelled(graph, names) for graph, names in zip(graphs, y)]
