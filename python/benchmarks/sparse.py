"""Lists of pairs, points within a gate, small calls with a price, and all pairs of a data set: processor time and memory beside others.

    pip install scipy lapx ortools
    python python/benchmarks/sparse.py [points | lists | small | program] [--program PATH]

Every measurement of `points` and `lists` is a process of its own. Time is processor time of the call, the least of three (one above 50,000
nodes); memory is how far the call raised the peak of the process. All methods solve the same problem, and their totals are compared.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import homolog as hm

GATE, PRICE, PER_ROW = 2.0, 2.0, 10
#: ortools takes whole costs.
WHOLE = 1e6


def points(size: int) -> tuple[np.ndarray, np.ndarray]:
    """One point per unit of area, moved by a normal deviation of 0.3."""
    rng = np.random.default_rng(size)
    before = rng.random((size, 2)) * np.sqrt(size)
    return before, rng.permutation(before + rng.normal(0, 0.3, before.shape))


def listed(size: int) -> Any:
    """Ten allowed cells per row with whole costs; a full matching exists."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(size)
    row = np.repeat(np.arange(size), PER_ROW)
    column = rng.integers(0, size, (size, PER_ROW))
    column[:, 0] = rng.permutation(size)
    _, first = np.unique(row * size + column.ravel(), return_index=True)
    return csr_array((rng.integers(1, 1_000_000, len(first)).astype(float), (row[first], column.ravel()[first])), shape=(size, size))


def near(before: np.ndarray, after: np.ndarray) -> Any:
    """Pairs within the gate, as others have to list them."""
    from scipy.spatial import cKDTree

    found = cKDTree(before).sparse_distance_matrix(cKDTree(after), GATE, output_type="coo_matrix")
    return found.row.astype(np.int64), found.col.astype(np.int64), found.data


def with_own_columns(row: np.ndarray, column: np.ndarray, cost: np.ndarray, n: int, m: int) -> Any:
    """A column of its own for every row, at the price of staying unmatched: then all rows can be matched."""
    from scipy.sparse import csr_array

    own = np.arange(n)
    return csr_array((np.r_[cost, np.full(n, PRICE)], (np.r_[row, own], np.r_[column, m + own])), shape=(n, n + m))


def squared_up(row: np.ndarray, column: np.ndarray, cost: np.ndarray, n: int, m: int) -> Any:
    """The same as a square problem: m more rows that take the right nodes without a partner and the columns that are left, for nothing."""
    from scipy.sparse import csr_array

    own, other = np.arange(n), np.arange(m)
    rows = np.r_[row, own, n + other, n + column]
    columns = np.r_[column, m + own, other, m + row]
    values = np.r_[cost, np.full(n, PRICE), np.zeros(m), np.zeros(len(row))]
    # An explicit zero stays an entry.
    matrix = csr_array((values + 1, (rows, columns)), shape=(n + m, n + m))
    matrix.data -= 1
    return matrix


def lapmod(matrix: Any) -> float:
    import lap

    matrix = matrix.tocsr()
    matrix.sort_indices()
    return float(lap.lapmod(matrix.shape[0], matrix.data, matrix.indptr, matrix.indices)[0])


def ortools(matrix: Any, scale: float) -> float:
    from ortools.graph.python import linear_sum_assignment

    matrix, solver = matrix.tocoo(), linear_sum_assignment.SimpleLinearSumAssignment()
    solver.add_arcs_with_cost(matrix.row.astype(np.int32), matrix.col.astype(np.int32), np.round(matrix.data * scale).astype(np.int64))
    if solver.solve() != solver.OPTIMAL:
        raise RuntimeError("ortools did not solve it")
    return float(solver.optimal_cost() / scale)


def scipy_total(matrix: Any) -> float:
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    # scipy removes explicit zeros.
    shifted = matrix.tocsr().copy()
    shifted.data += 1
    row, column = min_weight_full_bipartite_matching(shifted)
    return float(shifted[row, column].sum() - len(row))


def homolog_total(matrix: Any) -> float:
    row, column = hm.min_weight_full_bipartite_matching(matrix)
    return float(matrix[row, column].sum())


def point_methods(size: int) -> dict[str, Callable[[], float]]:
    before, after = points(size)
    return {
        "homolog": lambda: hm.match_points(before, after, gate=GATE, unmatched=PRICE).score,
        "scipy": lambda: scipy_total(with_own_columns(*near(before, after), size, size)),
        "lapmod": lambda: lapmod(squared_up(*near(before, after), size, size)),
        "ortools": lambda: ortools(squared_up(*near(before, after), size, size), WHOLE),
    }


def list_methods(size: int) -> dict[str, Callable[[], float]]:
    matrix = listed(size)
    return {
        "homolog": lambda: homolog_total(matrix),
        "scipy": lambda: scipy_total(matrix),
        "lapmod": lambda: lapmod(matrix),
        "ortools": lambda: ortools(matrix, 1.0),
    }


METHODS = {"points": point_methods, "lists": list_methods}
NAMES = ["homolog", "scipy", "lapmod", "ortools"]


def one(kind: str, size: int, name: str) -> dict[str, float]:
    """One measurement, in this process."""
    call = METHODS[kind](size)[name]
    # Modules are imported and threads started before the clock.
    METHODS[kind](50)[name]()
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    gc.collect()
    used = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20
    seconds, total = [], 0.0
    for _ in range(1 if size > 50_000 else 3):
        start = time.process_time()
        total = call()
        seconds.append(time.process_time() - start)
    return {"seconds": min(seconds), "megabytes": peak() - used, "total": total}


def table(kind: str, sizes: list[int], limit: float) -> None:
    print(f"| {kind} | " + " | ".join(f"{name} | MB" for name in NAMES) + " |")
    print("|---:" * (1 + 2 * len(NAMES)) + "|")
    for size in sizes:
        cells, totals = [], []
        for name in NAMES:
            command = [sys.executable, __file__, "--one", kind, str(size), name]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True)
            except subprocess.TimeoutExpired:
                cells.append(f"above {limit:g} s | -")
                continue
            except subprocess.CalledProcessError as error:
                cells.append(f"{error.stderr.strip().splitlines()[-1][:60]} | -")
                continue
            found = json.loads(done.stdout)
            totals.append(found["total"])
            cells.append(f"{shown(found['seconds'])} | {found['megabytes']:.0f}")
        # ortools rounds to millionths.
        assert max(totals) - min(totals) <= 1e-6 * size, totals
        print(f"| {size:,} | " + " | ".join(cells) + " |", flush=True)


def small() -> None:
    """A price of staying unmatched on small tables."""
    import lap

    calls = {
        "hm.solve(unmatched=)": lambda cost: hm.solve(cost, unmatched=0.4),
        "lap.lapjv(cost_limit=)": lambda cost: lap.lapjv(cost, extend_cost=True, cost_limit=0.4),
        "hm.linear_sum_assignment": hm.linear_sum_assignment,
    }
    print("| rows | " + " | ".join(calls) + " |\n" + "|---:" * (1 + len(calls)) + "|")
    rng = np.random.default_rng(1)
    for size in (5, 10, 20, 50):
        times: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(41):
            costs = [rng.random((size, size)) for _ in range(100)]
            for name, call in calls.items():
                start = time.thread_time()
                for cost in costs:
                    call(cost)
                times[name].append((time.thread_time() - start) / len(costs))
        print(f"| {size} | " + " | ".join(shown(float(np.median(own))) for own in times.values()) + " |", flush=True)


def program(path: str) -> None:
    """`homolog match MODEL DATA`: 6,105 pairs of 30 points of the built-in sequence."""
    print("| homolog match | processor time per pair | peak MB |\n|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        data = hm.load("turntable").all_pairs()
        data.save(place / "data.json")
        chosen = data.pairs[:200:10], data.y[:200:10]
        hm.Matcher("linear", lam=0.01).fit(*chosen).save(place / "model.json")
        for options in (["--no-margins"], []):
            for output in ("out.csv", "out.jsonl"):
                command = [path, "match", "model.json", "data.json", "-q", "-o", output, *options]
                best, peak = float("inf"), 0
                for _ in range(3):
                    child = subprocess.Popen(command, cwd=folder)
                    _, status, used = os.wait4(child.pid, 0)
                    assert status == 0, command
                    best, peak = min(best, used.ru_utime + used.ru_stime), used.ru_maxrss
                print(f"| {output} {' '.join(options) or 'with margins'} | {shown(best / len(data))} | {peak / 1024:.0f} |", flush=True)


def shown(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="points, lists, small, program; all by default")
    parser.add_argument("--program", default="homolog", help="the program homolog")
    parser.add_argument("--most", type=int, default=250_000, help="no more nodes than this")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one measurement")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(one(arguments.one[0], int(arguments.one[1]), arguments.one[2])))
        return
    parts = arguments.parts or ["points", "lists", "small", "program"]
    sizes = {"points": [1_000, 10_000, 50_000, 250_000], "lists": [1_000, 10_000, 100_000]}
    for part in parts:
        if part in sizes:
            table(part, [size for size in sizes[part] if size <= arguments.most], arguments.limit)
        elif part == "small":
            small()
        elif part == "program":
            program(arguments.program)
        else:
            parser.error(f"unknown part {part!r}: points, lists, small or program")
        print()


if __name__ == "__main__":
    main()
