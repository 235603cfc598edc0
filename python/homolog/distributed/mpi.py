"""Orders carried by MPI, among the processes that `mpirun` started (needs mpi4py and an MPI library).

>>> # train.py, started by `mpirun -n 8 python train.py`
>>> from homolog.distributed import mpi                                                 # doctest: +SKIP
>>> model = mpi.fit(hm.Matcher("quadratic", lam=0.1), "FOLDER/")                        # doctest: +SKIP
>>> if model is not None:                                                               # doctest: +SKIP
...     model.save("model.json")

Process r of s answers for the shards r, r + s, ... in every round and keeps them in memory; the first process also drives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._errors import MatchError
from . import Orders, Place, answer
from . import fit as fit_shards

if TYPE_CHECKING:
    from .._matcher import Matcher


def fit(matcher: Matcher, folder: Place, *, comm: Any = None, memory: int | None = None, keep: bool = False) -> Matcher | None:
    """Fits a matcher to a folder of shards; every process must call it, and only the first gets the matcher, the others `None`.

    `comm` is the communicator (by default all processes), `memory` the bytes that each process holds for examples and what searches
    remember. With `keep`, Ctrl-C ends training with the best so far.
    """
    if comm is None:
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()

    def own(orders: Orders) -> list[str] | MatchError:
        # An error is carried like a reply: a process that left the round would leave the others waiting.
        try:
            return [answer(folder, order, memory=memory, n_jobs=matcher.n_jobs) for _, order in orders[rank::size]]
        except Exception as error:
            return MatchError(f"{error} (in process {rank})")

    def evaluate(orders: Orders) -> list[str]:
        comm.bcast(orders)
        gathered = comm.gather(own(orders))
        for failed in gathered:
            if isinstance(failed, Exception):
                raise failed
        return [gathered[number % size][number // size] for number in range(len(orders))]

    if rank == 0:
        try:
            return fit_shards(matcher, folder, evaluate, keep=keep)
        finally:
            comm.bcast(None)
    while (orders := comm.bcast(None)) is not None:
        comm.gather(own(orders))
    return None
