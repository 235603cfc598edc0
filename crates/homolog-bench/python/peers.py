"""One Python assignment solver that answers the benchmark's requests and times itself.

usage: peers.py lapx|lapjvh|lapjvx|scipy

A request is one line of JSON on stdin, an answer one line of JSON on stdout. First of all the versions are sent.
  {"request": "load", "rows": r, "columns": c, "count": k}, then k matrices as raw float64 (native byte order, row by row);
  {"request": "assign"}: the column of each row of each matrix, -1 for a row left over; not timed;
  {"request": "time", "batch": b}: solves every matrix once; seconds per matrix, one clock reading for b matrices.
"""

import gc
import importlib.metadata
import json
import math
import platform
import sys
import time

import numpy as np


def lapx(name="lapjvr"):
    """lapjvr, lapjvh and lapjvx borrow a C-contiguous float64 array as it is; without return_cost they skip summing the total."""
    import lap

    solve, infinity = getattr(lap, name), math.inf

    def assign(cost):
        return solve(cost, True, infinity, False)

    # The call stands in the loop itself: a function around it would count against the peer.
    def solve_all(costs):
        for cost in costs:
            solve(cost, True, infinity, False)

    return assign, solve_all


def scipy():
    """linear_sum_assignment borrows a C-contiguous float64 array as it is."""
    from scipy.optimize import linear_sum_assignment as solve

    def solve_all(costs):
        for cost in costs:
            solve(cost)

    return solve, solve_all


def load(request):
    shape = (request["rows"], request["columns"])
    costs = []
    for _ in range(request["count"]):
        cost = np.empty(shape, dtype=np.float64)
        view = memoryview(cost).cast("B")
        filled = 0
        while filled < len(view):
            got = sys.stdin.buffer.readinto(view[filled:])
            if not got:
                raise EOFError("the matrices ended early")
            filled += got
        costs.append(cost)
    return costs


def columns_of(cost, answer):
    columns = np.full(cost.shape[0], -1)
    columns[answer[0]] = answer[1]
    return columns.tolist()


def timed(solve_all, costs, batch):
    elapsed = []
    for start in range(0, len(costs), batch):
        group = costs[start : start + batch]
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        solve_all(group)
        cpu, wall = time.thread_time_ns() - cpu, time.perf_counter_ns() - wall
        elapsed.append({"cpu": cpu / len(group) * 1e-9, "wall": wall / len(group) * 1e-9})
    return elapsed


def send(answer):
    print(json.dumps(answer), flush=True)


def main():
    package = sys.argv[1]
    assign, solve_all = {"lapx": lapx, "lapjvh": lambda: lapx("lapjvh"), "lapjvx": lambda: lapx("lapjvx"), "scipy": scipy}[package]()
    installed = "scipy" if package == "scipy" else "lapx"
    versions = {name: importlib.metadata.version(name) for name in (installed, "numpy")}
    send({"python": platform.python_version(), **versions})
    gc.disable()
    costs = []
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        if request["request"] == "load":
            costs = []  # The old matrices go before the new ones come.
            costs = load(request)
            send(len(costs))
        elif request["request"] == "assign":
            send([columns_of(cost, assign(cost)) for cost in costs])
        elif request["request"] == "time":
            send(timed(solve_all, costs, request["batch"]))


if __name__ == "__main__":
    main()
