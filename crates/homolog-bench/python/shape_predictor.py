"""dlib's shape predictor on the same draws: reads a job as JSON from standard input, writes places to standard output.

In: {"pictures": [{"file", "points"}], "jobs": [{"train": [picture, ...], "test": [picture, ...]}]}
Out: {"jobs": [[[[x, y], ...] for each test picture], ...], "version"}
The settings are tuned for few labelled pictures; the box is the whole picture, as nothing else is given to any method.
"""

import json
import sys

import dlib
import numpy as np
from PIL import Image

job = json.load(sys.stdin)
pictures = [np.array(Image.open(picture["file"]).convert("L")) for picture in job["pictures"]]


def box(picture):
    height, width = picture.shape
    return dlib.rectangle(0, 0, width - 1, height - 1)


def labelled(number):
    points = [dlib.point(round(x), round(y)) for x, y in job["pictures"][number]["points"]]
    return dlib.full_object_detection(box(pictures[number]), points)


options = dlib.shape_predictor_training_options()
options.tree_depth = 2
options.cascade_depth = 20
options.nu = 0.05
options.oversampling_amount = 200
options.oversampling_translation_jitter = 0.1
options.num_test_splits = 50
options.feature_pool_size = 500
options.num_trees_per_cascade_level = 250
options.num_threads = 1

answers = []
for draw in job["jobs"]:
    chosen = draw["train"]
    predictor = dlib.train_shape_predictor([pictures[k] for k in chosen], [[labelled(k)] for k in chosen], options)
    found = [predictor(pictures[k], box(pictures[k])) for k in draw["test"]]
    answers.append([[[part.x, part.y] for part in shape.parts()] for shape in found])
json.dump({"jobs": answers, "version": dlib.__version__}, sys.stdout)
