"""Sparse assignment by lapmod (lapx) and scipy on the problems of the benchmark.

A problem comes as one line of JSON {"nodes": n, "pairs": p, "rounds": r} on stdin, then raw numbers: n + 1 starts of rows (int32), p columns
(int32), p costs (float64). The answer is one line of JSON: for each solver its total and the processor seconds of each round.
"""

import gc
import importlib.metadata
import json
import sys
import time

import lap
import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import min_weight_full_bipartite_matching


def read(kind, count):
    data = sys.stdin.buffer.read(count * np.dtype(kind).itemsize)
    return np.frombuffer(data, dtype=kind).copy()


def timed(solve, rounds):
    seconds = []
    for _ in range(rounds):
        start = time.thread_time_ns()
        answer = solve()
        seconds.append((time.thread_time_ns() - start) * 1e-9)
    return answer, seconds


def main():
    gc.disable()
    versions = {name: importlib.metadata.version(name) for name in ("lapx", "scipy", "numpy")}
    print(json.dumps(versions), flush=True)
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        n, pairs, rounds = request["nodes"], request["pairs"], request["rounds"]
        start, columns, costs = read("i4", n + 1), read("i4", pairs), read("f8", pairs)
        table = csr_matrix((costs, columns, start), shape=(n, n))
        (total, _, _), lapmod = timed(lambda: lap.lapmod(n, costs, start, columns), rounds)
        (left, right), scipy = timed(lambda: min_weight_full_bipartite_matching(table), rounds)
        answer = {
            "lapmod": {"total": float(total), "seconds": lapmod},
            "scipy": {"total": float(table[left, right].sum()), "seconds": scipy},
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
