"""hm.linear_sum_assignment compared with scipy and lapx (lapjvr), in one run.

    pip install scipy lapx
    python python/benchmarks/linear.py [--quick]

Processor time per call, as a user pays it. Every round solves matrices that differ, the solvers take turns, and the figure is the median over
rounds. The ratio is the time of the faster peer divided by ours: above 1 homolog is ahead.
"""

from __future__ import annotations

import argparse
import gc
import time

import lap
import numpy as np
import scipy.optimize

import homolog as hm

SIZES = [(4, 4), (8, 8), (16, 16), (30, 30), (50, 50), (100, 100), (11, 200), (30, 200), (200, 200), (500, 500), (1000, 1000), (2000, 2000)]
KINDS = {
    "uniform": lambda rng, n, m: rng.random((n, m)),
    "integer": lambda rng, n, m: rng.integers(1, 101, (n, m)).astype(float),
    "distance": lambda rng, n, m: ((rng.random((n, 1, 2)) - rng.random((1, m, 2))) ** 2).sum(-1),
}
SOLVERS = {
    "homolog": hm.linear_sum_assignment,
    "scipy": scipy.optimize.linear_sum_assignment,
    "lapjvr": lambda cost: lap.lapjvr(cost, True, np.inf, False),
}


def measure(kind: str, n: int, m: int, budget: float) -> dict[str, float]:
    rng = np.random.default_rng(n * 10_007 + m)
    # Small matrices in batches of different ones, so that the clock's own time does not count.
    batch = max(1, min(200, 40_000 // (n * m)))
    least = 3 if n * m >= 1_000_000 else 7
    times: dict[str, list[float]] = {name: [] for name in SOLVERS}
    start, rounds = time.perf_counter(), 0
    while rounds < least or (rounds < 61 and time.perf_counter() - start < budget):
        costs = [np.ascontiguousarray(KINDS[kind](rng, n, m)) for _ in range(batch)]
        names = list(SOLVERS)
        for name in names[rounds % 3 :] + names[: rounds % 3]:
            solve = SOLVERS[name]
            gc.disable()
            before = time.thread_time() if n * m < 1_000_000 else time.process_time()
            for cost in costs:
                solve(cost)
            after = time.thread_time() if n * m < 1_000_000 else time.process_time()
            gc.enable()
            times[name].append((after - before) / batch)
        rounds += 1
    return {name: float(np.median(own)) for name, own in times.items()}


def shown(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="sizes up to 500, half a second a row")
    arguments = parser.parse_args()
    budget = 0.5 if arguments.quick else 3.0
    print(f"| {'kind':<9} | {'size':>9} | {'homolog':>8} | {'scipy':>8} | {'lapjvr':>8} | ratio |")
    print("| --------- | --------: | -------: | -------: | -------: | ----: |")
    ratios = []
    for kind in KINDS:
        for n, m in SIZES:
            if arguments.quick and n > 500:
                continue
            found = measure(kind, n, m, budget)
            ratios.append(min(found["scipy"], found["lapjvr"]) / found["homolog"])
            cells = " | ".join(f"{shown(found[name]):>8}" for name in SOLVERS)
            print(f"| {kind:<9} | {f'{n}x{m}':>9} | {cells} | {ratios[-1]:5.2f} |", flush=True)
    print(f"\nfaster peer / ours: geometric mean {np.exp(np.mean(np.log(ratios))):.2f}, lowest {min(ratios):.2f}")


if __name__ == "__main__":
    main()
