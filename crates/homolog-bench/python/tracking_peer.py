"""Logistic regression on features of pairs, then scipy's assignment: what a tracker engineer writes in ten lines.

One JSON object on stdin: {"train": [...], "test": [...]}, each a pair of frames {"right": count, "pairs": [[i, k]], "values": [[...]], "truth": [k or null]}.
On stdout: for each test pair the right detection of each left one, or null.
"""

import json
import sys

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

given = json.load(sys.stdin)
values, labels = [], []
for frames in given["train"]:
    values += frames["values"]
    labels += [frames["truth"][i] == k for i, k in frames["pairs"]]
model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(np.array(values), np.array(labels))

answers = []
for frames in given["test"]:
    n, m = len(frames["truth"]), frames["right"]
    # A column of its own for each row, at cost 0: a pair is matched where the odds are better than even.
    cost = np.hstack([np.full((n, m), 1e6), np.zeros((n, n))])
    if frames["pairs"]:
        rows, columns = np.array(frames["pairs"]).T
        cost[rows, columns] = -model.decision_function(np.array(frames["values"]))
    found = [None] * n
    for i, k in zip(*linear_sum_assignment(cost)):
        if k < m and cost[i, k] < 1e6:
            found[i] = int(k)
    answers.append(found)
json.dump(answers, sys.stdout)
