"""Training from shards by every engine: time, processor time, the share of it outside the answers, what the driver takes a round by
itself, memory of a worker, and that all learn the same bytes.

    python python/benchmarks/cluster.py [--pairs 5000] [--points 12] [--shards 64] [--gap 1e-3]

MPI needs mpirun and mpi4py. A wide gap ends training after a few rounds: time a round is the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import homolog as hm


def data(pairs: int, points: int) -> hm.DataSet:
    """Pairs of noisy copies of one shape, their points shuffled."""
    rng = np.random.default_rng(1)
    shape = rng.random((points, 2))
    names = [f"p{i}" for i in range(points)]
    lines = ['{"format":{"kind":"homolog-data","version":1}}']
    for g in range(pairs + 1):
        order = rng.permutation(points)
        noisy = (shape + rng.normal(0, 0.06, shape.shape))[order]
        lines.append(json.dumps({"id": f"g{g}", "points": noisy.tolist(), "names": [names[i] for i in order]}))
    lines += [json.dumps({"left": f"g{g}", "right": f"g{g + 1}", "split": "train"}) for g in range(pairs)]
    text = "\n".join(lines).encode()
    return hm.DataSet(hm._core.DataSet.read("data.jsonl", text, (None, None, [], []), lambda name, most: None)[0])


def peak() -> float:
    """The peak memory of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(folder: str, order: str) -> tuple[str, int, float, float, float]:
    """A reply, which process gave it, its processor time before and after, and its memory."""
    begin = time.process_time()
    reply = hm.distributed.answer(folder, order, n_jobs=1)
    return reply, os.getpid(), begin, time.process_time(), peak()


class Measured:
    """An engine, and how long its workers worked, in processor time: other work on the machine does not count."""

    def __init__(self, carry):
        self.carry, self.rounds, self.memory, self.busy, self.inside = carry, 0, 0.0, 0.0, 0.0
        self.first, self.last = {}, {}

    def __call__(self, orders):
        begin = time.process_time()
        answers = self.carry(orders)
        self.inside += time.process_time() - begin
        self.rounds += 1
        for _, process, before, after, memory in answers:
            self.busy += after - before
            self.first.setdefault(process, before)
            self.last[process] = after
            self.memory = max(self.memory, memory)
        return [reply for reply, *_ in answers]

    def spent(self) -> float:
        """All processor time of workers."""
        return sum(self.last[process] - self.first[process] for process in self.last if process != os.getpid())


def local(folder):
    return lambda orders: [timed(folder, order) for _, order in orders]


def by_joblib(folder, count):
    from joblib import Parallel, delayed

    return lambda orders: Parallel(n_jobs=count)(delayed(timed)(folder, order) for _, order in orders)


def timed_all(folder, orders, _memory):
    return [timed(folder, order) for order in orders]


def by_dask(folder, client):
    from homolog.distributed.dask import Carrier

    carrier = Carrier(client, folder)
    carrier.task = timed_all
    return carrier


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=5000)
    parser.add_argument("--points", type=int, default=12)
    parser.add_argument("--shards", type=int, default=64)
    parser.add_argument("--lam", type=float, default=0.1)
    parser.add_argument("--gap", type=float, default=1e-3)
    parser.add_argument("--features", default="quadratic")
    parser.add_argument("--engines", default="local,joblib,dask,mpi")
    parser.add_argument("--fit", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    matcher = lambda: hm.Matcher(options.features, lam=options.lam, tolerance=options.gap, method="frank-wolfe", n_jobs=1)  # noqa: E731
    if options.fit:
        # One of the processes that mpirun started.
        from homolog.distributed import mpi

        if (model := mpi.fit(matcher(), options.fit[0])) is not None:
            model.save(options.fit[1])
        return
    place = Path(tempfile.mkdtemp()) / "shards"
    hm.distributed.cut(data(options.pairs, options.points), place, options.shards)
    folder = str(place)

    print(f"{options.pairs} pairs of {options.points} points, {options.features}, {options.shards} shards, gap {options.gap}")
    print(f"{'engine':>14} {'seconds':>8} {'CPU':>8} {'rounds':>6} {'CPU/round':>9} {'outside':>8} {'driver ms':>9} {'MB':>6}  sha256")

    first = None

    def row(name, seconds, total, measured, driver, memory, sha):
        rate, outside = total / measured.rounds, 1 - measured.busy / total
        numbers = f"{seconds:8.2f} {total:8.2f} {measured.rounds:6} {rate:9.4f} {outside:8.1%} {driver} {memory:6.0f}"
        print(f"{name:>14} {numbers}  {sha[:12]}", flush=True)

    def show(name, carry):
        nonlocal first
        measured = Measured(carry)
        begin, before = time.perf_counter(), time.process_time()
        model = hm.distributed.fit(matcher(), folder, measured)
        seconds, own = time.perf_counter() - begin, time.process_time() - before
        # What the driver does between two rounds: the bundle method, orders and replies as text.
        driver = 1e3 * (own - measured.inside) / measured.rounds
        sha = hashlib.sha256(model.to_json().encode()).hexdigest()
        row(name, seconds, own + measured.spent(), measured, f"{driver:9.2f}", measured.memory, sha)
        first = first or measured

    if "local" in options.engines:
        show("one process", local(folder))
    if "joblib" in options.engines:
        for count in (1, 2):
            show(f"joblib, {count}", by_joblib(folder, count))
    if "dask" in options.engines:
        from distributed import Client, LocalCluster

        for count in (1, 2):
            with LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster:
                with Client(cluster) as client:
                    show(f"Dask, {count}", by_dask(folder, client))
    if "mpi" in options.engines and shutil.which("mpirun"):
        # The processes do not say what they spend on answers: what one process here spent is taken for it.
        if first is None:
            show("one process", local(folder))
        for count in (1, 2):
            model = place.parent / "model.json"
            line = f"mpirun --allow-run-as-root --oversubscribe -n {count} {sys.executable} {__file__} --fit {folder} {model}"
            line += f" --features {options.features} --lam {options.lam} --gap {options.gap}"
            begin = time.perf_counter()
            job = subprocess.Popen(line.split(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(job.pid, 0)
            job.returncode = os.waitstatus_to_exitcode(status)
            seconds, total = time.perf_counter() - begin, usage.ru_utime + usage.ru_stime
            sha = hashlib.sha256(model.read_bytes()).hexdigest()
            row(f"MPI, {count}", seconds, total, first, f"{'':9}", usage.ru_maxrss / 1024, sha)


if __name__ == "__main__":
    main()
