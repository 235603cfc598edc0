"""Matcher: learns from matched pairs how to match, with the interface of scikit-learn."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._data import DataSet, checked_pairs, data_set, is_item, truth_array
from ._errors import MatchError, convergence_warning
from ._estimator import Estimator
from ._graph import as_graph
from ._lessons import Lessons
from ._match import Match
from ._pairs import are_tables, item_of
from ._progress import Progress
from ._report import Explanation, FitReport
from ._solve import Method, method_text, threads

Callback = Callable[[dict[str, Any]], Any]


class Matcher(Estimator):
    """Learns from a few matched pairs of graphs how to match, then matches new ones.

    Parameters
    ----------
    features : str or dict, default "auto"
        What is compared: a set by name ("linear", "quadratic", "robust", "attributes", "graph", "paper-linear", ...), or a feature map as
        in docs/features.md. "auto" tries the sets that fit the data, for at most a
        minute, and chooses among those that do best on held-out pairs, as `homolog train` does: an atlas too if specimens share names.
        `fit_report_` has all of them.
    learner : {"auto", "max-margin", "likelihood", "groups"}
        How weights are learned; "groups" learns few factors, for few specimens; "auto" takes what does best on held-out pairs.
    pose : {"auto", "as-given", "tilted", "any"}
        Allowed rotation between the two sides (tilted: up to 45°). "auto": for features "auto" as far as the labelled pairs show,
        otherwise as given.
    lam : float, sequence of float, or "auto"
        The regularisation λ, or those to choose from; if given, the weights before learning are never chosen.
    unmatched : bool, default False
        Left nodes may stay unmatched, at a learned cost.
    method : str or dict, default "auto"
        How the model matches: "linear", "exact", "frank-wolfe", ...; "auto" is exact for its features.
    oracle : {"search", "relaxation"}
        How training finds the worst mistake; with the relaxation the result is proven.
    loss : {"hamming", "endpoint"} or dict
        What counts as wrong: the share of wrong matches, or how far off the matched points are.
    tolerance : float, default 1e-3
        Training ends when objective and bound are this close, relative to the objective.
    folds : int, default 5
        Folds of cross-validation, over specimens.
    weights : array_like or dict of name to float, optional
        Weights to use as they are: nothing is learned. A dict may leave out names, whose weights then stay as before learning.
    warm_start : bool, default False
        `fit` starts from the current weights.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    verbose : int, default 0
        Shows progress, with tqdm if it is installed.
    callback : callable, optional
        Called with a dict now and then during `fit`; if it returns true, training ends with the best so far.

    Attributes
    ----------
    weights_ : numpy.ndarray of float
    feature_names_ : list of str
        What each weight belongs to.
    lam_, objective_, bound_, gap_, certified_, history_, n_iter_, stop_
        How training went; None if learning did not help.
    fit_report_ : FitReport
        What training achieved, for printing.

    Examples
    --------
    >>> import homolog as hm
    >>> data = hm.load("turntable").pairs_apart(70)
    >>> model = hm.Matcher("paper-linear", lam=0.01).fit(data.pairs[:3], data.y[:3])
    >>> match = model.match(*data.pairs[10])
    >>> len(match), match.status
    (30, 'optimal')
    """

    def __init__(
        self,
        features: str | Mapping[str, Any] = "auto",
        *,
        learner: str = "auto",
        pose: str | Mapping[str, Any] = "auto",
        lam: float | Sequence[float] | str = "auto",
        unmatched: bool = False,
        method: Method = "auto",
        oracle: str = "search",
        loss: str | Mapping[str, Any] = "hamming",
        tolerance: float = 1e-3,
        folds: int = 5,
        weights: ArrayLike | Mapping[str, float] | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.features = features
        self.learner = learner
        self.pose = pose
        self.lam = lam
        self.unmatched = unmatched
        self.method = method
        self.oracle = oracle
        self.loss = loss
        self.tolerance = tolerance
        self.folds = folds
        self.weights = weights
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    # -- learning ---------------------------------------------------------------------------------------------------------------

    def fit(
        self,
        pairs: Any,
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        keep: bool = False,
        client: Any = None,
    ) -> Matcher:
        """Learns from matched pairs.

        Parameters
        ----------
        pairs : sequence of (left, right), DataSet, or path
            Graphs, or arrays of points. The same object in several pairs is one specimen. An item may also be **features of pairs**: an array
            (n, m, d), or a dict of names to tables (n, m), dense (an infinity forbids a pair) or scipy.sparse (absent entries are forbidden);
            or (left, right, features). A path must be that of a folder of shards (docs/cluster.md).
        y : sequence, optional
            For each pair: the right node of each left node (-1 for none, -2 unknown), or (m, 2) pairs, or a dict of names, or None.
            Without it nodes with the same name match.
        sample_weight : array_like, optional
            How often each pair counts.
        keep : bool, default False
            Ctrl-C ends training with the best so far, and a warning, instead of KeyboardInterrupt.
        client : distributed.Client, optional
            The Dask cluster that learns from a folder of shards, which all its workers must be able to read. It does not affect the result.

        Returns
        -------
        self
        """
        if client is not None or isinstance(pairs, (str, os.PathLike)):
            return self._fit_shards(pairs, y, sample_weight, keep, client)
        data = self._data(pairs, y)
        self._learn(data, self._importance(sample_weight, len(data.pairs())), keep)
        self._lessons = Lessons.of(pairs, y, sample_weight)
        return self

    def update(self, pair: Any, match: Any, *, choose: bool = True, keep: bool = False) -> Matcher:
        """Learns from one more matched pair, or from a corrected one, in addition to those of `fit`.

        The result is that of `fit` with all of these pairs, to the byte (without `warm_start`).

        Parameters
        ----------
        pair : (left, right), (left, right, features) or features of pairs
            An item as those of `fit`. An item that was learned from before (the same object, or the same left and right) gets a new match.
        match : array_like, dict or Match
            As an entry of `y`.
        choose : bool, default True
            Choose features, learner and λ again. False keeps those of the last `fit`: no cross-validation, which makes it many times as fast, and
            the result is that of `fit` with these settings. If learning had not helped before, all are chosen again.
        keep : bool, default False
            As for `fit`.

        Returns
        -------
        self

        Examples
        --------
        >>> import homolog as hm
        >>> data = hm.load("turntable").pairs_apart(70)
        >>> model = hm.Matcher("paper-linear", lam=0.01).fit(data.pairs[:3], data.y[:3])
        >>> _ = model.update(data.pairs[3], data.y[3])
        >>> again = hm.Matcher("paper-linear", lam=0.01).fit(data.pairs[:4], data.y[:4])
        >>> model.to_json() == again.to_json()
        True
        """
        self._fitted()
        lessons: Lessons | None = self.__dict__.get("_lessons")
        if lessons is None:
            raise MatchError(
                "update needs the pairs of an earlier fit, given as a list: a model from a file, shards or a data set with splits has none"
            )
        lessons = lessons.with_pair(pair, match)
        data = self._data(lessons.pairs, lessons.y)
        self._learn(data, lessons.weights, keep, {} if choose else self._choices())
        self._lessons = lessons
        return self

    def _learn(
        self, data: _core.DataSet, importance: list[float] | None, keep: bool, choices: Mapping[str, Any] | None = None
    ) -> None:
        settings = {**self._settings(), **(choices or {}), "importance": importance}
        if self.warm_start and hasattr(self, "_model"):
            settings["start"] = [float(weight) for weight in self.weights_]
        with Progress(self.verbose, self.callback) as progress:
            trained = _core.train(data, json.dumps(settings), threads(self.n_jobs), progress.callback, keep)
        self._take(trained)

    def _choices(self) -> dict[str, Any]:
        """Features, learner and λ of the last fit, as settings; nothing if learning had not helped."""
        chosen = next((own for own in self.fit_report_.candidates if own["chosen"]), None)
        if self.lam_ is None or chosen is None:
            return {}
        settings = json.loads(self._fitted().settings_json())
        kept = {name: settings[name] for name in ("features", "matcher", "unmatched")}
        return {**kept, "learner": chosen["learner"], "lambdas": [self.lam_]}

    def _fit_shards(self, folder: Any, y: Any, sample_weight: Any, keep: bool, client: Any) -> Matcher:
        from . import distributed

        if not isinstance(folder, (str, os.PathLike)):
            raise MatchError("a client learns from a folder of shards: homolog.distributed.cut makes one of a data set")
        if y is not None or sample_weight is not None:
            raise MatchError("shards contain their matches: y and sample_weight are for lists of pairs")
        if client is None:
            return distributed.fit(self, folder, keep=keep)
        from .distributed.dask import Carrier

        return distributed.fit(self, folder, Carrier(client, folder), keep=keep)

    def _take(self, trained: _core.Trained) -> None:
        """Takes the result of training, and warns if it did not finish."""
        report = json.loads(trained.report_json())
        self._set(_core.Model.from_json(trained.model_json()), report, trained.report_text())
        if not self.fit_report_.complete or self.stop_ not in (None, "converged"):
            warnings.warn(convergence_warning(self.fit_report_.sentence), stacklevel=3)

    def _settings(self) -> dict[str, Any]:
        """The settings of the library's task, checked here and not when they are stored."""
        if not (isinstance(self.tolerance, (int, float)) and self.tolerance > 0):
            raise MatchError(f"tolerance is {self.tolerance!r}: it must be a positive number")
        if not (isinstance(self.folds, (int, np.integer)) and self.folds >= 0):
            raise MatchError(f"folds is {self.folds!r}: it must be a whole number")
        lam: list[float] = []
        if not (isinstance(self.lam, str) and self.lam == "auto"):
            try:
                lam = [float(value) for value in np.atleast_1d(np.asarray(self.lam, dtype=float))]
            except ValueError:
                raise MatchError(f"lam is {self.lam!r}: it must be a number, several of them, or 'auto'") from None
        if not all(np.isfinite(value) and value > 0 for value in lam):
            raise MatchError(f"lam is {self.lam!r}: it must be positive")
        if self.oracle not in ("search", "relaxation"):
            raise MatchError(f"oracle is {self.oracle!r}: it must be 'search' or 'relaxation'")
        weights, fixed = self._given_weights()
        return {
            "features": self.features if isinstance(self.features, str) else dict(self.features),
            "learner": self.learner,
            "pose": _pose(self.pose),
            "lambdas": lam,
            "unmatched": bool(self.unmatched),
            "matcher": json.loads(method_text(self.method) or "null"),
            "oracle": {"name": self.oracle},
            "loss": {"name": self.loss} if isinstance(self.loss, str) else dict(self.loss),
            "gap": float(self.tolerance),
            "folds": int(self.folds),
            "weights": weights,
            "fixed": fixed or {},
        }

    def _data(self, pairs: Any, y: Any) -> _core.DataSet:
        if isinstance(pairs, DataSet) and y is None:
            if pairs.pairs:
                return pairs._inner
            return pairs.all_pairs()._inner
        listed = checked_pairs(pairs)
        if len(listed) == 0:
            raise MatchError("there are no pairs to learn from")
        if y is not None and len(y) != len(listed):
            raise MatchError(f"y has {len(y)} entries for {len(listed)} pairs")
        return data_set(listed, y, self._has_tables())[0]

    def _importance(self, sample_weight: ArrayLike | None, count: int) -> list[float] | None:
        if sample_weight is None:
            return None
        values = np.broadcast_to(np.asarray(sample_weight, dtype=float), (count,))
        return [float(value) for value in values]

    def _given_weights(self) -> tuple[list[float] | None, dict[str, float] | None]:
        if self.weights is None:
            return None, None
        if isinstance(self.weights, Mapping):
            return None, {str(name): float(value) for name, value in self.weights.items()}
        return [float(value) for value in np.asarray(self.weights, dtype=float).reshape(-1)], None

    def _set(self, model: _core.Model, report: dict[str, Any], text: str | None = None) -> None:
        self._model = model
        self.weights_: NDArray[np.float64] = model.weights
        self.feature_names_: list[str] = model.weight_names
        self.fit_report_ = FitReport(report, text)
        training = report.get("training") or {}
        self.lam_: float | None = training.get("lambda")
        self.objective_: float | None = training.get("objective")
        self.bound_: float | None = training.get("bound")
        self.gap_: float | None = training.get("gap")
        self.certified_: bool = bool(training.get("certified"))
        self.history_: list[dict[str, float]] = report.get("history") or []
        self.n_iter_: int = int(training.get("evaluations") or 0)
        self.stop_: str | None = training.get("stop")

    # -- matching ---------------------------------------------------------------------------------------------------------------

    def predict(self, pairs: Any, *, time_limit: float | None = None) -> list[NDArray[np.int64]]:
        """The right node of each left node, -1 for none, for every pair."""
        return [match.assignment for match in self.match_all(pairs, time_limit=time_limit)]

    def match_all(self, pairs: Any, *, candidates: float | None = None, time_limit: float | None = None) -> list[Match]:
        """A Match for every pair, on all cores. `time_limit` applies to all of them together; `candidates` as for `match`."""
        model = self._fitted()
        # A thing that is in many pairs becomes one graph, which is described once. It is kept beside it, so that its id stays its own.
        known: dict[int, tuple[Any, Any]] = {}

        def graph(thing: Any) -> Any:
            if id(thing) not in known:
                known[id(thing)] = (thing, as_graph(thing))
            return known[id(thing)][1]

        listed = checked_pairs(pairs)
        tables = are_tables(listed, self._has_tables())
        items = [
            item_of(pair, tables, at) if is_item(pair, tables) else (graph(pair[0]), graph(pair[1]), None)
            for at, pair in enumerate(listed)
        ]
        jobs = threads(self.n_jobs)
        rows = [(left._graph, right._graph, None, None, features) for left, right, features in items]
        solutions = model.solve(rows, time_limit, jobs)
        return [self._match(found, left, right, candidates) for found, (left, right, _) in zip(solutions, items)]

    def match(
        self,
        left: Any,
        right: Any = None,
        *,
        features: Any = None,
        seeds: Any = None,
        forbid: Any = None,
        candidates: float | None = None,
        time_limit: float | None = None,
    ) -> Match:
        """Matches two graphs, or the nodes of one item of X if `right` is left out. `features` are those of pairs; `seeds` are pairs of nodes that must
        be matched, `forbid` pairs that must not be. `candidates` (such as 0.95), for a model with an atlas: list with each match the right nodes
        that include the true partner this often."""
        model = self._fitted()
        one, other, table = self._item(left, right, features)
        given = [None if pairs is None else node_pairs(pairs, one, other) for pairs in (seeds, forbid)]
        rows = [(one._graph, other._graph, given[0], given[1], table)]
        return self._match(model.solve(rows, time_limit, threads(self.n_jobs))[0], one, other, candidates)

    def _item(self, left: Any, right: Any, features: Any) -> Any:
        if right is None:
            return item_of(left, self._has_tables())
        return item_of((left, right, features), False)

    def _has_tables(self) -> bool:
        """Whether the model has features of pairs, so that an array (2, m, 3) is such."""
        model: _core.Model | None = self.__dict__.get("_model")
        return model is not None and model.has_pair_features

    def _match(self, solution: _core.Solution, left: Any, right: Any, level: float | None) -> Match:
        jobs = threads(self.n_jobs)
        lists = None if level is None else [np.array(own, dtype=np.int64) for own in solution.candidates(float(level), jobs)]
        return Match(solution.fields(), lambda: solution.margins(jobs), (left.names, right.names), candidates=lists, tolerance=lambda: solution.tolerance(jobs))

    def explain(self, left: Any, right: Any = None, *, features: Any = None) -> Explanation:
        """Why each node was matched as it was, the least certain first; of two graphs, or of one item of X.

        Not for a model that is an atlas (which `features="auto"` may choose): :meth:`Atlas.explain` explains the names of one graph.
        """
        model = self._fitted()
        if json.loads(model.to_json()).get("atlas") is not None:
            known = "hm.Atlas.from_json(model.to_json()).explain(points)"
            raise MatchError(f"this model is an atlas, which matches two graphs by naming both; explain the names of one: {known}")
        one, other, table = self._item(left, right, features)
        fields = json.loads(model.explain((one._graph, other._graph, None, None, table), threads(self.n_jobs)))
        return Explanation(fields, self.feature_names_, (one.names, other.names))

    def losses(self, pairs: Any, y: Any = None) -> NDArray[np.float64]:
        """The loss of each pair, by the loss that was trained for."""
        model = self._fitted()
        return model.losses(self._data(pairs, y), threads(self.n_jobs))

    def score(self, pairs: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """One minus the mean loss: with the Hamming loss, the share of nodes that are right."""
        losses = self.losses(pairs, y)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        return float(1.0 - np.average(losses, weights=weights))

    def truth(self, pairs: Any, y: Any) -> list[NDArray[np.int64] | None]:
        """`y` as one array for each pair."""
        listed = checked_pairs(pairs)
        tables = are_tables(listed, self._has_tables())
        items = [item_of(pair, tables, at) for at, pair in enumerate(listed)]
        return [truth_array(own, left, right, at) for at, (own, (left, right, _)) in enumerate(zip(y, items))]

    # -- files ------------------------------------------------------------------------------------------------------------------

    @classmethod
    def from_json(cls, text: str) -> Matcher:
        """A matcher from the text of a model file."""
        model = _core.Model.from_json(text)
        settings = json.loads(model.settings_json())
        matcher = cls(settings["features"], method=settings["matcher"], unmatched=settings["unmatched"])
        matcher._set(model, {"training": settings["report"]})
        return matcher

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Matcher:
        """Reads a model file written by Python or by the program."""
        return cls.from_json(Path(path).read_text(encoding="utf-8-sig"))


def _pose(pose: str | Mapping[str, Any]) -> dict[str, Any] | None:
    if isinstance(pose, str):
        return None if pose == "auto" else {"turns": pose, "mirror": False}
    return dict(pose)


def node_pairs(pairs: Any, left: Any, right: Any) -> list[tuple[int, int]]:
    """Pairs of nodes by number or by name."""

    def number(node: Any, graph: Any) -> int:
        if not isinstance(node, str):
            return int(node)
        names = graph.names or []
        if node not in names:
            raise MatchError(f"there is no node with the name {node!r}")
        found: int = names.index(node)
        return found

    rows = pairs.items() if isinstance(pairs, Mapping) else pairs
    return [(number(i, left), number(k, right)) for i, k in rows]
