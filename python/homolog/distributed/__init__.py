"""Training distributed over many machines, with identical results to the byte.

A data set is split into files once (`homolog convert DATA --shards 64 -o FOLDER/`, or `cut` here). Training then asks every file the same
questions, round by round; `answer` answers one of them, wherever the file can be read. How questions and answers travel is up to
you: `homolog.distributed.dask` uses a Dask cluster, `homolog.distributed.mpi` the processes that mpirun started, and a function of a few
lines is enough for anything else.

>>> from joblib import Parallel, delayed                                                                    # doctest: +SKIP
>>> def evaluate(orders):                                                                                   # doctest: +SKIP
...     return Parallel(n_jobs=8)(delayed(hm.distributed.answer)("FOLDER/", order) for _, order in orders)
>>> model = hm.distributed.fit(hm.Matcher("linear", lam=0.1), "FOLDER/", evaluate)                          # doctest: +SKIP
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import _core
from .._data import DataSet
from .._errors import MatchError
from .._progress import Progress

if TYPE_CHECKING:
    from .._matcher import Matcher

__all__ = ["answer", "cut", "fit"]

Place = str | os.PathLike[str]
#: What is asked of each shard: the name of its file, and its order.
Orders = Sequence[tuple[str, str]]
#: Answers all orders, in sequence.
Evaluate = Callable[[Orders], Sequence[str]]

#: By default a process holds examples and what searches remember up to this many bytes.
MEMORY = 4 << 30


def cut(data: DataSet, folder: Place, shards: int = 64) -> None:
    """Splits the labelled pairs of a data set into this many files to learn from, in a new folder with a manifest.

    The folder is written completely or not at all. Pairs of the splits "validation" and "test" get their own files.
    """
    place = Path(folder)
    if place.exists():
        raise MatchError(f"shards need a new folder, and {place} already exists")
    files = _core.cut(data._inner, shards)
    hidden = Path(tempfile.mkdtemp(prefix=".homolog-", dir=place.parent))
    try:
        inside = hidden / "shards"
        inside.mkdir()
        for name, text in files:
            (inside / name).write_text(text, encoding="utf-8", newline="\n")
        inside.rename(place)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def answer(folder: Place, order: str, *, memory: int | None = None, n_jobs: int | None = None) -> str:
    """The reply to an order, from the files in a folder; it depends on nothing else.

    A process keeps examples and what searches remember for the next order, up to `memory` bytes; a process without them reads and
    computes them again.
    """
    return _core.answer_order(os.fspath(folder), order, MEMORY if memory is None else int(memory), n_jobs)


def fit(matcher: Matcher, folder: Place, evaluate: Evaluate | None = None, *, keep: bool = False) -> Matcher:
    """Fits a matcher to a folder of shards, asking `evaluate` in every round; without it everything is answered here.

    The features have to be given, and also λ unless there are validation shards to choose it by; learning is max-margin.
    With `keep`, Ctrl-C ends training with the best so far.
    """
    manifest = Path(folder) / "manifest.json"
    if not manifest.is_file():
        raise MatchError(f"{Path(folder)} has no manifest.json; homolog.distributed.cut or `homolog convert --shards` makes one")
    settings = matcher._settings()
    if settings["weights"] is not None:
        raise MatchError("weights are given: there is nothing to learn, and nothing to spread")
    jobs = matcher.n_jobs if matcher.n_jobs is not None and matcher.n_jobs > 0 else None
    own = [lambda orders: [answer(folder, order, n_jobs=jobs) for _, order in orders]]
    carry = evaluate if evaluate is not None else own[0]
    run = _core.ShardRun(manifest.read_text(encoding="utf-8"), json.dumps(settings))
    with Progress(matcher.verbose, matcher.callback) as progress:
        while (orders := run.ask()) is not None:
            try:
                run.tell([str(reply) for reply in carry(orders)])
                news = run.progress()
                if news is not None and progress.callback is not None and progress.callback(news):
                    run.stop()
            except KeyboardInterrupt:
                if not keep:
                    raise
                run.stop()
                run.tell([])
    trained = run.result()
    matcher._take(trained)
    return matcher
