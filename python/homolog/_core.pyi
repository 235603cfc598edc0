from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "DataSet",
    "Graph",
    "Listed",
    "MatchError",
    "Model",
    "PairFeatures",
    "Problem",
    "ShardRun",
    "Solution",
    "Trained",
    "__version__",
    "answer_order",
    "box_features",
    "check_specimens",
    "cut",
    "explain_naming",
    "find_points",
    "join_specimens",
    "k_best",
    "linear_sum_assignment",
    "linear_sum_assignment_batch",
    "mahalanobis",
    "name_points",
    "name_take",
    "proof_in_words",
    "read_track_table",
    "read_tracks",
    "run_task",
    "solve_points",
    "tracks",
    "train",
    "train_atlas",
    "verify",
]

__version__: str

class MatchError(ValueError):
    row: int | None
    column: int | None
    index: int | None
    setting: str | None
    value: float | None
    least: float | None
    most: float | None

def linear_sum_assignment(
    cost_matrix: ArrayLike, maximize: Any = False
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def linear_sum_assignment_batch(
    costs: NDArray[np.float64] | list[NDArray[np.float64]], maximize: bool, jobs: int | None
) -> Any: ...
def proof_in_words(tolerance: float | None) -> str: ...
def train(data: DataSet, settings: str, jobs: int | None, callback: Callable[[dict[str, Any]], Any] | None, keep: bool) -> Trained: ...
def run_task(task: str, jobs: int | None) -> Trained: ...
def train_atlas(
    specimens: Sequence[Graph],
    unlabelled: Sequence[Graph],
    pictures: Sequence[NDArray[np.uint8]] | None,
    settings: str,
    jobs: int | None,
    callback: Callable[[dict[str, Any]], Any] | None,
) -> tuple[Model, str]: ...
def join_specimens(
    specimens: Sequence[Graph],
    ids: Sequence[str],
    settings: str,
    pictures: Sequence[NDArray[np.uint8]] | None,
    model: Model | None,
    time_limit: float | None,
    jobs: int | None,
    callback: Callable[[dict[str, Any]], Any] | None,
) -> tuple[str, str, Model]: ...
def name_points(
    model: Model,
    specimens: Sequence[Graph],
    presence: str | None,
    candidates: float | None,
    time_limit: float | None,
    jobs: int | None,
) -> list[str]: ...
def name_take(
    model: Model, frames: Sequence[Graph], ids: Sequence[str], time_limit: float | None, jobs: int | None
) -> str: ...
def box_features(
    left: NDArray[np.float64], right: NDArray[np.float64], appearance: Any, covariances: NDArray[np.float64] | None
) -> PairFeatures: ...
def mahalanobis(
    left: NDArray[np.float64], right: NDArray[np.float64], covariances: NDArray[np.float64]
) -> NDArray[np.float64]: ...
def find_points(model: Model, pictures: Sequence[NDArray[np.uint8]], jobs: int | None) -> list[str]: ...
def explain_naming(model: Model, specimen: Graph, jobs: int | None) -> str: ...
def check_specimens(data: DataSet, jobs: int | None) -> tuple[str, str, DataSet, DataSet]: ...

_Frames = list[tuple[int, NDArray[np.float64], list[int | None]]]

def tracks(frames: list[tuple[int, NDArray[np.float64], list[int]]], gap: int) -> tuple[DataSet, _Frames]: ...
def read_tracks(text: str, truth: str | None, gap: int) -> tuple[DataSet, _Frames]: ...
def read_track_table(text: str, size: float | None, gap: int) -> tuple[DataSet, _Frames]: ...

_Given = tuple[NDArray[np.float64] | None, float | None, NDArray[np.int64] | None, NDArray[np.int64] | None]
_Proof = tuple[NDArray[np.float64], NDArray[np.float64], tuple[NDArray[np.int64], NDArray[np.int64]] | None]
_Solved = tuple[dict[str, Any], _Proof | None]

@final
class Listed:
    def __new__(
        cls,
        counts: tuple[int, int],
        pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
        costs: NDArray[np.float64],
        maximize: bool,
        given: _Given,
    ) -> Listed: ...
    def solve(self, full: bool, time_limit: float | None, jobs: int | None) -> _Solved: ...

def verify(problem: Problem | Listed, assignment: NDArray[np.int64], proof: _Proof) -> float: ...
def k_best(
    problem: Problem | Listed, count: int, time_limit: float | None, jobs: int | None
) -> tuple[list[tuple[NDArray[np.int64], float]], bool]: ...
def solve_points(
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    near: tuple[float, int | None],
    given: _Given,
    squared: bool,
    time_limit: float | None,
    jobs: int | None,
) -> _Solved: ...
@final
class Graph:
    def __new__(
        cls,
        node_count: int,
        *,
        points: NDArray[np.float64] | None = None,
        context: NDArray[np.float64] | None = None,
        names: list[str] | None = None,
        attributes: tuple[list[str], NDArray[np.float64]] | None = None,
        edges: NDArray[np.int64] | None = None,
        directed: bool = False,
        edge_attributes: tuple[list[str], NDArray[np.float64]] | None = None,
        image_size: tuple[float, float] | None = None,
        texts: list[tuple[str, list[str]]] = ...,
    ) -> Graph: ...
    @property
    def notes(self) -> list[str]: ...
    @staticmethod
    def from_json(text: str) -> Graph: ...
    def to_json(self) -> str: ...
    @property
    def node_count(self) -> int: ...
    @property
    def points(self) -> NDArray[np.float64] | None: ...
    @property
    def context(self) -> NDArray[np.float64] | None: ...
    @property
    def names(self) -> list[str] | None: ...
    @property
    def attributes(self) -> tuple[list[str], NDArray[np.float64]] | None: ...
    @property
    def edges(self) -> NDArray[np.int64]: ...
    @property
    def edge_attributes(self) -> tuple[list[str], NDArray[np.float64]] | None: ...
    @property
    def image_size(self) -> tuple[float, float] | None: ...
    @property
    def scale(self) -> float | None: ...
    @property
    def unit(self) -> str | None: ...
    @property
    def time(self) -> float | None: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class PairFeatures:
    @staticmethod
    def of_tables(names: list[str], tables: list[NDArray[np.float64]]) -> PairFeatures: ...
    @staticmethod
    def of_list(
        names: list[str], counts: tuple[int, int], pairs: NDArray[np.int64], values: NDArray[np.float64]
    ) -> PairFeatures: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def pairs(self) -> NDArray[np.int64]: ...
    @property
    def values(self) -> NDArray[np.float64]: ...

@final
class DataSet:
    def __new__(
        cls,
        graphs: Sequence[tuple[str, Graph]],
        pairs: Sequence[tuple[int, int, list[int] | None, str | None, PairFeatures | None]],
    ) -> DataSet: ...
    @staticmethod
    def from_json(text: str) -> DataSet: ...
    @staticmethod
    def read(
        name: str,
        bytes: bytes,
        columns: tuple[str | None, str | None, list[str], list[str]],
        beside: Callable[[str, int], bytes | None],
    ) -> tuple[DataSet, list[tuple[bool, str]]]: ...
    @staticmethod
    def turntable() -> DataSet: ...
    @staticmethod
    def turntable_picture(frame: int) -> NDArray[np.uint8]: ...
    def to_json(self) -> str: ...
    def graphs(self) -> list[tuple[str, Graph, str | None]]: ...
    def pairs(self) -> list[tuple[int, int, NDArray[np.int64] | None, str | None, PairFeatures | None]]: ...
    def paired(self, baseline: int | None, split: bool) -> DataSet: ...

@final
class Problem:
    def __new__(
        cls,
        costs: NDArray[np.float64],
        maximize: bool,
        unmatched: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        forbidden: NDArray[np.int64] | None = None,
    ) -> Problem: ...
    def with_edges(
        self,
        left_edges: NDArray[np.int64],
        right_edges: NDArray[np.int64],
        pairs: NDArray[np.int64],
        values: NDArray[np.float64],
    ) -> Problem: ...
    def with_factors(
        self,
        left_edges: NDArray[np.int64],
        right_edges: NDArray[np.int64],
        left: NDArray[np.float64],
        right: NDArray[np.float64],
        pairs: NDArray[np.int64] | None = None,
        values: NDArray[np.float64] | None = None,
    ) -> Problem: ...
    def solve(
        self,
        method: str | None,
        time_limit: float | None,
        jobs: int | None,
        start: NDArray[np.float64] | None = None,
    ) -> Solution: ...

@final
class Solution:
    def fields(self) -> dict[str, Any]: ...
    def proof(self) -> _Proof | None: ...
    def tolerance(self, jobs: int | None) -> float | None: ...
    def margins(self, jobs: int | None) -> NDArray[np.float64]: ...
    def candidates(self, level: float, jobs: int | None) -> list[list[int]]: ...

@final
class Trained:
    def model_json(self) -> str: ...
    def report_json(self) -> str: ...
    def report_text(self) -> str: ...

_GivenPair = tuple[Graph, Graph, list[tuple[int, int]] | None, list[tuple[int, int]] | None, PairFeatures | None]

@final
class Model:
    @staticmethod
    def from_json(text: str) -> Model: ...
    def to_json(self) -> str: ...
    def settings_json(self) -> str: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...
    @property
    def weight_names(self) -> list[str]: ...
    @property
    def has_pair_features(self) -> bool: ...
    def solve(
        self,
        pairs: Sequence[_GivenPair],
        time_limit: float | None,
        jobs: int | None,
    ) -> list[Solution]: ...
    def explain(self, given: _GivenPair, jobs: int | None) -> str: ...
    def losses(self, data: DataSet, jobs: int | None) -> NDArray[np.float64]: ...

def answer_order(folder: str, order: str, most_bytes: int, jobs: int | None) -> str: ...
def cut(data: DataSet, count: int) -> list[tuple[str, str]]: ...
@final
class ShardRun:
    def __new__(cls, manifest: str, settings: str) -> ShardRun: ...
    def ask(self) -> list[tuple[str, str]] | None: ...
    def tell(self, replies: Sequence[str]) -> None: ...
    def stop(self) -> None: ...
    def progress(self) -> dict[str, Any] | None: ...
    def result(self) -> Trained: ...
