from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "DataSet",
    "Graph",
    "MatchError",
    "Model",
    "Problem",
    "ShardRun",
    "Solution",
    "Trained",
    "__version__",
    "answer_order",
    "cut",
    "explain_naming",
    "find_points",
    "linear_sum_assignment",
    "linear_sum_assignment_batch",
    "name_points",
    "run_task",
    "see_pictures",
    "train",
    "train_atlas",
]

__version__: str

class MatchError(ValueError):
    row: int | None
    column: int | None
    index: int | None

def linear_sum_assignment(
    cost_matrix: ArrayLike, maximize: Any = False
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def linear_sum_assignment_batch(
    costs: NDArray[np.float64] | list[NDArray[np.float64]], maximize: bool, jobs: int | None
) -> Any: ...
def train(data: DataSet, settings: str, jobs: int | None, callback: Callable[[dict[str, Any]], Any] | None, keep: bool) -> Trained: ...
def run_task(task: str, jobs: int | None) -> Trained: ...
def train_atlas(
    specimens: Sequence[Graph],
    settings: str,
    jobs: int | None,
    callback: Callable[[dict[str, Any]], Any] | None,
) -> Model: ...
def see_pictures(
    model: Model,
    specimens: Sequence[Graph],
    pictures: Sequence[NDArray[np.uint8]],
    jobs: int | None,
    callback: Callable[[dict[str, Any]], Any] | None,
) -> Model: ...
def find_points(model: Model, pictures: Sequence[NDArray[np.uint8]], jobs: int | None) -> list[str]: ...
def name_points(model: Model, specimens: Sequence[Graph], time_limit: float | None, jobs: int | None) -> list[str]: ...
def explain_naming(model: Model, specimen: Graph, jobs: int | None) -> str: ...

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
    ) -> Graph: ...
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
class DataSet:
    def __new__(
        cls,
        graphs: Sequence[tuple[str, Graph]],
        pairs: Sequence[tuple[int, int, list[int] | None, str | None]],
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
    def pairs(self) -> list[tuple[int, int, NDArray[np.int64] | None, str | None]]: ...
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
    ) -> Problem: ...
    def solve(self, method: str | None, time_limit: float | None, jobs: int | None) -> Solution: ...

@final
class Solution:
    def fields(self) -> dict[str, Any]: ...
    def margins(self, jobs: int | None) -> NDArray[np.float64]: ...

@final
class Trained:
    def model_json(self) -> str: ...
    def report_json(self) -> str: ...
    def report_text(self) -> str: ...

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
    def solve(
        self,
        pairs: Sequence[tuple[Graph, Graph, list[tuple[int, int]] | None, list[tuple[int, int]] | None]],
        time_limit: float | None,
        jobs: int | None,
    ) -> list[Solution]: ...
    def explain(self, left: Graph, right: Graph, jobs: int | None) -> str: ...
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
