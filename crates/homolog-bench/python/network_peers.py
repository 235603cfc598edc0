"""Networks matched by scipy's FAQ, graspologic and pygmtools, as far as they are installed.

A problem is one line of JSON on stdin: nodes, left and right edges (i, j, weight), seeds. The answer is one line: for each method the place of
each left node, the processor seconds and the megabytes that the process needed at most meanwhile.
"""

import importlib.metadata
import json
import sys
import time

import numpy as np
from scipy.optimize import quadratic_assignment
from scipy.stats import rankdata


def table(nodes, edges, by_rank):
    i, j, weight = (np.array(part) for part in zip(*edges)) if edges else (np.zeros(0, int),) * 3
    matrix = np.zeros((nodes, nodes))
    value = rankdata(weight) / len(weight) if by_rank and len(weight) else weight
    matrix[i, j] = matrix[j, i] = value
    return matrix


def peak(reset):
    if reset:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        return 0.0
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def timed(solve):
    peak(True)
    start = time.process_time()
    places = solve()
    return {"places": [int(k) for k in places], "seconds": time.process_time() - start, "megabytes": peak(False)}


def networks():
    try:
        import networkx as nx
    except ImportError:
        return {}
    graphs = {"karate": nx.karate_club_graph(), "les-miserables": nx.les_miserables_graph(), "florentine": nx.florentine_families_graph()}
    found = {}
    for name, graph in graphs.items():
        numbered = nx.convert_node_labels_to_integers(graph)
        found[name] = [(min(i, j), max(i, j), float(data.get("weight", 1))) for i, j, data in numbered.edges(data=True)]
    return found


def installed(name):
    try:
        __import__(name)
        return importlib.metadata.version(name)
    except Exception:
        return None


def main():
    versions = {name: installed(name) for name in ("scipy", "graspologic", "pygmtools", "networkx")}
    print(json.dumps({"versions": {name: v for name, v in versions.items() if v}, "networks": networks()}), flush=True)
    for line in sys.stdin:
        problem = json.loads(line)
        n, seeds = problem["nodes"], np.array(problem["seeds"], dtype=int).reshape(-1, 2)
        weighted = any(edge[2] != 1 for edge in problem["left"])
        answers = []
        for by_rank in [False, True] if weighted else [False]:
            A, B = (table(n, problem[side], by_rank) for side in ("left", "right"))
            suffix = " on ranks" if by_rank else ""
            options = {"maximize": True, "partial_match": seeds, "rng": np.random.default_rng(0)}
            answer = timed(lambda: quadratic_assignment(A, B, options=options).col_ind)
            answers.append({"method": "scipy faq" + suffix, **answer})
            if versions["graspologic"]:
                from graspologic.match import graph_match

                match = timed(lambda: graph_match(A, B, partial_match=seeds if len(seeds) else None, rng=0)[1])
                answers.append({"method": "graspologic" + suffix, **match})
            if versions["pygmtools"] and n <= 100 and not len(seeds):
                import pygmtools

                pygmtools.BACKEND = "numpy"

                def rrwm():
                    X = pygmtools.hungarian(pygmtools.rrwm(np.kron(B, A), n, n))
                    return X.argmax(axis=1)

                answers.append({"method": "pygmtools rrwm" + suffix, **timed(rrwm)})
        print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    main()
