"""hm.linear_sum_assignment compared with scipy and lapx (lapjvr, lapjvh, lapjvx), in one run.

    pip install scipy lapx
    python python/benchmarks/linear.py [--quick]

Processor time per call, as a user pays it. The solvers take turns, and the figure is the median over rounds. Every solver gets matrices that
nobody has solved: on the same ones lapjvh, which is lapjvr, takes 4.1 µs after lapjvr's 6.7 (30 x 200), since the processor has learned the
branches. The ratio is the time of the fastest peer divided by ours: above 1 homolog is ahead. A peer gets the array as its user has it: of another
type or order if the kind says so.
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
#: Kinds with sizes of their own.
OWN_SIZES = {
    "iou": [(10, 10), (30, 40), (100, 100), (200, 180), (1000, 1000), (2000, 2000)],
    "offsets": [(100, 100), (1000, 1000), (4000, 4000)],
    "tall": [(20, 5), (200, 11), (200, 30)],
    "wide": [(1000, 2000)],
    "float32": [(4, 4), (100, 100)],
    "int64": [(4, 4), (100, 100)],
    "fortran": [(4, 4), (100, 100)],
}


def iou(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    """1 - intersection over union of boxes and the same boxes displaced, in another order: mostly 1."""
    count = max(n, m)
    boxes = np.c_[rng.random((count, 2)) * np.sqrt(2 * count), 0.7 + 0.6 * rng.random((count, 2))]
    seen = boxes[rng.permutation(m)]
    seen = seen + np.c_[0.3 * (rng.random((m, 2)) - 0.5), seen[:, 2:] * (0.2 * rng.random((m, 2)) - 0.1)]
    a, b = boxes[:n, None], seen[None]
    sides = np.minimum(a[..., :2] + a[..., 2:], b[..., :2] + b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    shared = np.maximum(sides, 0).prod(-1)
    return 1 - shared / (a[..., 2:].prod(-1) + b[..., 2:].prod(-1) - shared)


def offsets(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    """The hard test matrices of lapx: whole numbers, and one more for each row and each column."""
    return (rng.integers(1, 101, (n, m)) + rng.integers(0, 100, (n, 1)) + rng.integers(0, 100, (1, m))).astype(float)


KINDS = {
    "uniform": lambda rng, n, m: rng.random((n, m)),
    "integer": lambda rng, n, m: rng.integers(1, 101, (n, m)).astype(float),
    "distance": lambda rng, n, m: ((rng.random((n, 1, 2)) - rng.random((1, m, 2))) ** 2).sum(-1),
    "iou": iou,
    "offsets": offsets,
    "tall": lambda rng, n, m: rng.random((n, m)),
    "wide": lambda rng, n, m: rng.random((n, m)),
    "float32": lambda rng, n, m: rng.random((n, m), dtype=np.float32),
    "int64": lambda rng, n, m: rng.integers(1, 101, (n, m)),
    "fortran": lambda rng, n, m: np.asfortranarray(rng.random((n, m))),
}
SOLVERS = {
    "homolog": hm.linear_sum_assignment,
    "scipy": scipy.optimize.linear_sum_assignment,
    "lapjvr": lambda cost: lap.lapjvr(cost, True, np.inf, False),
    "lapjvh": lambda cost: lap.lapjvh(cost, True, np.inf, False),
    "lapjvx": lambda cost: lap.lapjvx(cost, True, np.inf, False),
}
PEERS = [name for name in SOLVERS if name != "homolog"]


def measure(kind: str, n: int, m: int, budget: float) -> dict[str, float]:
    rng = np.random.default_rng(n * 10_007 + m)
    # Small matrices in batches of different ones, so that the clock's own time does not count.
    batch = max(1, min(200, 40_000 // (n * m)))
    least = 3 if n * m >= 1_000_000 else 7
    times: dict[str, list[float]] = {name: [] for name in SOLVERS}
    start, rounds = time.perf_counter(), 0
    while rounds < least or (rounds < 61 and time.perf_counter() - start < budget):
        names = list(SOLVERS)
        first = rounds % len(names)
        for name in names[first:] + names[:first]:
            solve = SOLVERS[name]
            costs = [KINDS[kind](rng, n, m) for _ in range(batch)]
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
    print(f"| {'kind':<9} | {'size':>9} | " + " | ".join(f"{name:>8}" for name in SOLVERS) + " | ratio |")
    print("| --------- | --------: | " + " | ".join("-------:" for _ in SOLVERS) + " | ----: |")
    ratios = {}
    for kind in KINDS:
        for n, m in OWN_SIZES.get(kind, SIZES):
            if arguments.quick and max(n, m) > 500:
                continue
            found = measure(kind, n, m, budget)
            ratio = ratios[f"{kind} {n}x{m}"] = min(found[name] for name in PEERS) / found["homolog"]
            cells = " | ".join(f"{shown(found[name]):>8}" for name in SOLVERS)
            print(f"| {kind:<9} | {f'{n}x{m}':>9} | {cells} | {ratio:5.2f} |", flush=True)
    mean, lowest = np.exp(np.mean(np.log(list(ratios.values())))), min(ratios, key=lambda row: ratios[row])
    print(f"\nfastest peer / ours: geometric mean {mean:.2f}, lowest {ratios[lowest]:.2f} ({lowest})")


if __name__ == "__main__":
    main()
