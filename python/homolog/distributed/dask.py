"""Orders carried by Dask, on any cluster that Dask runs on.

>>> from distributed import Client                                                      # doctest: +SKIP
>>> model = hm.Matcher("quadratic", lam=0.1).fit("FOLDER/", client=Client())            # doctest: +SKIP

A shard is answered by the same worker in every round, which has it in memory; one plain task per round and worker carries the orders of all
its shards, since delivering a task takes longer than answering a small order. If a worker is lost its task goes to another, which
reads the files, repeats what is remembered (at most eight rounds), and gets identical results; in the next round its shards are
reassigned.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Sequence
from typing import Any

from .._errors import MatchError
from . import MEMORY, Orders, Place, answer

#: The share of a worker's memory limit for examples and what searches remember.
SHARE = 0.5
_runs = itertools.count()


class Carrier:
    """Carries orders to the workers of a Dask client.

    Parameters
    ----------
    client : distributed.Client
    folder : path
        As the workers see it: all of them must be able to read it.
    memory : int, optional
        Bytes for examples and what searches remember in each worker; by default half of the worker's limit.
    patience : float
        Seconds to wait without any worker before giving up.
    """

    def __init__(self, client: Any, folder: Place, *, memory: int | None = None, patience: float = 60.0) -> None:
        self.client = client
        self.folder = os.path.abspath(os.fspath(folder))
        self.memory = memory
        self.patience = patience
        self.task: Any = answer_all
        self._homes: dict[str, str] = {}
        self._name = f"homolog-{os.getpid()}-{next(_runs)}"
        self._step = itertools.count()

    def __call__(self, orders: Orders) -> Sequence[str]:
        homes = self._assign([file for file, _ in orders])
        step = next(self._step)
        groups: dict[str | None, list[int]] = {}
        for number, (file, _) in enumerate(orders):
            groups.setdefault(homes.get(file), []).append(number)
        futures = [
            self.client.submit(
                self.task,
                self.folder,
                [orders[number][1] for number in group],
                self.memory,
                key=f"{self._name}-{step}-{group[0]}",
                pure=False,
                workers=home,
                allow_other_workers=True,
            )
            for home, group in groups.items()
        ]
        try:
            self._wait(futures)
            answered: list[list[str]] = self.client.gather(futures)
        except MatchError:
            raise
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                raise MatchError(f"workers died again and again on the same shard, for lack of memory most often: {error}") from error
            raise
        finally:
            self.client.cancel(futures)
        replies = [""] * len(orders)
        for group, own in zip(groups.values(), answered):
            for number, reply in zip(group, own):
                replies[number] = reply
        return replies

    def _assign(self, files: Sequence[str]) -> dict[str, str]:
        """A worker for each shard: the one it has, if that is still there, otherwise the one with the fewest."""
        there = self.client.nthreads()
        homes = {file: home for file, home in self._homes.items() if home in there}
        load = {address: 0.0 for address in sorted(there)}
        for home in homes.values():
            load[home] += 1.0 / max(1, there[home])
        for file in files:
            if file not in homes and load:
                home = min(load, key=lambda address: load[address])
                homes[file] = home
                load[home] += 1.0 / max(1, there[home])
        self._homes = homes
        return homes

    def _wait(self, futures: list[Any]) -> None:
        import distributed

        # Only some of its functions have type annotations.
        wait: Any = distributed.wait
        alone_since: float | None = None
        while True:
            try:
                wait(futures, timeout=2.0)
                return
            except distributed.TimeoutError:
                pass
            if any(future.status == "error" for future in futures):
                return
            if self.client.nthreads():
                alone_since = None
                continue
            alone_since = time.monotonic() if alone_since is None else alone_since
            if time.monotonic() - alone_since > self.patience:
                raise MatchError(f"there has been no worker for {self.patience:.0f} seconds")


def answer_all(folder: str, orders: Sequence[str], memory: int | None) -> list[str]:
    """One task, on a worker."""
    from distributed import get_worker

    worker = get_worker()
    limit = worker.memory_manager.memory_limit
    most = memory if memory is not None else int(SHARE * limit) if limit else MEMORY
    try:
        return [answer(folder, order, memory=most, n_jobs=worker.state.nthreads) for order in orders]
    except MatchError as error:
        raise MatchError(f"{error} (on the worker {worker.address})") from None
