"""Specimens joined by pylibmgm and pygmtools on given pairwise scores, as far as they are installed.

A problem is one line of JSON on stdin: the number of points of each specimen, and for each pair of specimens its scores in the .dd format and the
matching that they were solved by. The answer is one line: the processor time so far, and for
each method the right point of each left point (or -1), pair by pair.
"""

import importlib.metadata
import json
import sys
import tempfile
import time

import numpy as np

# Beyond this many bytes pygmtools' table of scores is not made.
MOST_BYTES = 800e6


def installed(name):
    try:
        __import__(name)
        return importlib.metadata.version(name)
    except Exception:
        return None


def libmgm(nodes, pairs):
    from pylibmgm import io, solver

    with tempfile.NamedTemporaryFile("w", suffix=".dd") as file:
        for pair in pairs:
            file.write(f"gm {pair['left']} {pair['right']}\n{pair['problem']}")
        file.flush()
        model = io.parse_dd_file(file.name)
    labels = [[-1] * count for count in nodes]
    for name, clique in enumerate(solver.solve_mgm(model, solver.OptimizationLevel.DEFAULT).cliques()):
        for specimen, point in clique.items():
            labels[specimen][point] = name
    place = [{name: point for point, name in enumerate(own) if name >= 0} for own in labels]
    return [[place[pair["right"]].get(name, -1) for name in labels[pair["left"]]] for pair in pairs]


def affinity(n, text):
    """A table of all pairs of assignments; the assignment of i to k is number k * n + i."""
    table, number = np.zeros((n * n, n * n), dtype=np.float32), {}
    for line in text.splitlines():
        kind, *fields = line.split()
        if kind == "a":
            at = number[fields[0]] = int(fields[2]) * n + int(fields[1])
            table[at, at] = -float(fields[3])
        elif kind == "e":
            a, b = number[fields[0]], number[fields[1]]
            table[a, b] = table[b, a] = -float(fields[2]) / 2
    return table


def floyd(nodes, pairs):
    import pygmtools

    m, n = len(nodes), nodes[0]
    if any(count != n for count in nodes) or 4 * m * m * n**4 > MOST_BYTES:
        return None
    pygmtools.set_backend("numpy")
    scores = np.zeros((m, m, n * n, n * n), dtype=np.float32)
    start = np.zeros((m, m, n, n), dtype=np.float32)
    start[range(m), range(m)] = np.eye(n)
    other_way = np.arange(n * n).reshape(n, n).T.ravel()
    for pair in pairs:
        i, j = pair["left"], pair["right"]
        scores[i, j] = affinity(n, pair["problem"])
        scores[j, i] = scores[i, j][np.ix_(other_way, other_way)]
        for left, right in enumerate(pair["matching"]):
            if right >= 0:
                start[i, j, left, right] = start[j, i, right, left] = 1
    found = pygmtools.mgm_floyd(scores, x0=start)
    right = lambda row: int(row.argmax()) if row.max() > 0.5 else -1
    return [[right(row) for row in found[pair["left"], pair["right"]]] for pair in pairs]


METHODS = {"pylibmgm": libmgm, "pygmtools": floyd}


def main():
    versions = {name: installed(name) for name in METHODS}
    print(json.dumps({name: version for name, version in versions.items() if version}), flush=True)
    for line in sys.stdin:
        problem = json.loads(line)
        answers = {name: solve(problem["nodes"], problem["pairs"]) for name, solve in METHODS.items() if versions[name]}
        answers = {name: answer for name, answer in answers.items() if answer}
        print(json.dumps({"seconds": time.process_time(), "answers": answers}), flush=True)


if __name__ == "__main__":
    main()
