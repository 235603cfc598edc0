"""Training from shards: the same bytes in one process, on a Dask cluster that loses a worker, by joblib and by MPI; errors that name the file."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

import homolog as hm

#: Features and oracle: nothing to remember, violators to remember, warm starts to remember.
KINDS = [("linear", "search"), ("quadratic", "search"), ("quadratic", "relaxation")]


def made(dimension: int, fifth: str) -> hm.DataSet:
    """Pairs of jittered copies of five points to learn from, every fifth of another split."""
    rng = np.random.default_rng(3)
    shape = rng.random((5, dimension))
    lines = ['{"format":{"kind":"homolog-data","version":1}}']
    names = [f"p{i}" for i in range(5)]
    for g in range(32):
        order = rng.permutation(5)
        points = (shape + rng.normal(0, 0.12, shape.shape))[order]
        lines.append(json.dumps({"id": f"g{g}", "points": points.tolist(), "names": [names[i] for i in order]}))
    for g in range(31):
        split = fifth if g % 5 == 4 else "train"
        lines.append(json.dumps({"left": f"g{g}", "right": f"g{g + 1}", "split": split}))
    text = "\n".join(lines).encode()
    return hm.DataSet(hm._core.DataSet.read("data.jsonl", text, (None, None, [], []), lambda name, most: None)[0])


@pytest.fixture(scope="module")
def data() -> hm.DataSet:
    return made(2, "validation")


@pytest.fixture(scope="module")
def judged(data, tmp_path_factory):
    """Shards with pairs to choose λ by, and whether to learn at all."""
    place = tmp_path_factory.mktemp("shards") / "judged"
    hm.distributed.cut(data, place, 8)
    return place


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Shards with nothing to choose by: what is learned is what comes out."""
    place = tmp_path_factory.mktemp("shards") / "cut"
    hm.distributed.cut(made(2, "train"), place, 8)
    return place


def matcher(features, oracle):
    return hm.Matcher(features, lam=0.003, oracle=oracle, method="frank-wolfe" if features == "quadratic" else "auto")


def digest(model):
    return hashlib.sha256(model.to_json().encode()).hexdigest()


@pytest.fixture(scope="module")
def alone(folder):
    """What one process learns."""
    models = {kind: matcher(*kind).fit(folder) for kind in KINDS}
    assert all(model.n_iter_ > 1 for model in models.values()), "it is not the weights before learning that are compared"
    return {kind: digest(model) for kind, model in models.items()}


def test_shards_teach_what_the_data_set_teaches(data, judged):
    whole = hm.Matcher("linear", learner="max-margin").fit(data)
    assert digest(hm.Matcher("linear").fit(judged)) == digest(whole)


def test_the_program_and_the_package_learn_the_same(folder, program, tmp_path):
    options = ["--features", "linear", "--lambda", "0.003", "-q", "-o", str(tmp_path / "model.json")]
    subprocess.run([program, "train", str(folder), *options], check=True, capture_output=True)
    assert (tmp_path / "model.json").read_text() == hm.Matcher("linear", lam=0.003).fit(folder).to_json()


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


@pytest.mark.parametrize("kind", KINDS)
def test_dask_with_workers_killed_in_the_middle(kind, alone, folder, client):
    """One worker of two is killed; with HOMOLOG_KILLS=n, in n runs of training, at moments that differ."""
    from homolog.distributed.dask import Carrier

    random = np.random.default_rng(len(KINDS) + KINDS.index(kind))
    for run in range(int(os.environ.get("HOMOLOG_KILLS", "1"))):
        carrier, steps = Carrier(client, folder), []
        fatal, which = (12, 0) if run == 0 else (int(random.integers(1, 13)), int(random.integers(2)))

        def carry(orders, carrier=carrier, steps=steps, fatal=fatal, which=which):
            steps.append(len(orders))
            if len(steps) == fatal:
                client.wait_for_workers(2)
                pids = client.run(os.getpid)
                os.kill(pids[sorted(pids)[which]], signal.SIGKILL)
            return carrier(orders)

        assert digest(hm.distributed.fit(matcher(*kind), folder, carry)) == alone[kind], f"run {run}, killed at step {fatal}"
        assert len(steps) > fatal, "a worker was killed"


def test_dask_by_one_argument(alone, folder, client):
    assert digest(matcher(*KINDS[0]).fit(folder, client=client)) == alone[KINDS[0]]


def test_joblib_in_a_few_lines(alone, folder):
    joblib = pytest.importorskip("joblib")

    def evaluate(orders):
        tasks = (joblib.delayed(hm.distributed.answer)(folder, order) for _, order in orders)
        return joblib.Parallel(n_jobs=2)(tasks)

    for kind in KINDS[:2]:
        assert digest(hm.distributed.fit(matcher(*kind), folder, evaluate)) == alone[kind]


#: Fits in every process that mpirun started, and says in the first what came of it.
BY_MPI = """
import sys
import homolog as hm
from homolog.distributed import mpi
features, oracle, folder, output = sys.argv[1:]
matcher = hm.Matcher(features, lam=0.003, oracle=oracle, method="frank-wolfe" if features == "quadratic" else "auto", n_jobs=1)
try:
    model = mpi.fit(matcher, folder)
    if model is not None:
        model.save(output)
except hm.MatchError as error:
    sys.exit(f"refused: {error}")
"""


def by_mpi(processes, kind, folder, output):
    pytest.importorskip("mpi4py", reason="training by MPI needs mpi4py")
    if shutil.which("mpirun") is None:
        pytest.skip("training by MPI needs mpirun")
    words = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(processes), sys.executable, "-c", BY_MPI]
    return subprocess.run([*words, *kind, str(folder), str(output)], capture_output=True, text=True)


@pytest.mark.parametrize("kind", KINDS)
def test_three_processes_of_mpi(kind, alone, folder, tmp_path):
    done = by_mpi(3, kind, folder, tmp_path / "model.json")
    assert done.returncode == 0, done.stderr
    assert hashlib.sha256((tmp_path / "model.json").read_bytes()).hexdigest() == alone[kind]


def test_a_process_of_mpi_that_cannot_read_a_file_ends_training(folder, tmp_path):
    place = copy(folder, tmp_path)
    (place / "part-00004.jsonl").unlink()
    done = by_mpi(3, KINDS[0], place, tmp_path / "model.json")
    assert done.returncode != 0 and not (tmp_path / "model.json").exists()
    assert "part-00004.jsonl: cannot read" in done.stderr and "(in process 1)" in done.stderr, done.stderr


def copy(folder, tmp_path):
    place = tmp_path / "copy"
    shutil.copytree(folder, place)
    return place


def test_files_that_are_not_what_they_should_be_are_named(folder, client, tmp_path):
    place = copy(folder, tmp_path)
    part = place / "part-00003.jsonl"
    whole = part.read_text()
    part.write_text(whole.replace("0.", "1.", 1))
    with pytest.raises(hm.MatchError, match="part-00003.jsonl: the file was changed"):
        matcher(*KINDS[0]).fit(place)
    part.unlink()
    with pytest.raises(hm.MatchError, match="part-00003.jsonl: cannot read"):
        matcher(*KINDS[0]).fit(place)
    # A worker that cannot read the file says which, and who it is.
    with pytest.raises(hm.MatchError, match="part-00003.jsonl: cannot read .*on the worker tcp"):
        matcher(*KINDS[0]).fit(place, client=client)
    part.write_text(whole)
    manifest = place / "manifest.json"
    lines = manifest.read_text().splitlines()
    manifest.write_text("\n".join(line for line in lines if "part-00002" not in line))
    with pytest.raises(hm.MatchError, match="part-00003.jsonl: .*a shard is missing"):
        matcher(*KINDS[0]).fit(place)


def test_one_worker_without_the_files_ends_training(folder, client, tmp_path):
    from homolog.distributed.dask import Carrier, answer_all

    client.wait_for_workers(2)
    address, blind = sorted(client.run(os.getpid).items())[0]
    elsewhere = str(tmp_path)

    def answer(folder, orders, memory):
        """Under the same path one worker sees another folder."""
        return answer_all(elsewhere if os.getpid() == blind else folder, orders, memory)

    carrier = Carrier(client, folder)
    carrier.task = answer
    with pytest.raises(hm.MatchError, match=rf"part-0000\d.jsonl: cannot read .*on the worker {address}"):
        hm.distributed.fit(matcher(*KINDS[0]), folder, carrier)


def test_a_shard_of_other_data_is_named(folder, client, tmp_path):
    place, other = copy(folder, tmp_path), tmp_path / "other"
    hm.distributed.cut(made(3, "train"), other, 8)
    part, strange, manifest = place / "part-00003.jsonl", other / "part-00003.jsonl", place / "manifest.json"
    digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in (part, strange)]
    assert digests[0] in manifest.read_text()
    manifest.write_text(manifest.read_text().replace(*digests))
    shutil.copy(strange, part)
    for engine in (None, client):
        with pytest.raises(hm.MatchError, match="part-00003.jsonl: .*graph"):
            matcher(*KINDS[1]).fit(place, client=engine)


def test_what_cannot_be_spread_is_said(folder, data, tmp_path):
    with pytest.raises(hm.MatchError, match="name one"):
        hm.Matcher().fit(folder)
    with pytest.raises(hm.MatchError, match="likelihood learning cannot be spread"):
        hm.Matcher("linear", learner="likelihood").fit(folder)
    with pytest.raises(hm.MatchError, match="no manifest.json"):
        hm.Matcher("linear").fit(tmp_path)
    with pytest.raises(hm.MatchError, match="folder of shards"):
        hm.Matcher("linear").fit(data, client=object())
    with pytest.raises(hm.MatchError, match="already exists"):
        hm.distributed.cut(data, folder, 8)


def test_training_can_be_stopped_with_the_best_so_far(judged):
    model = hm.Matcher("linear", lam=[1.0, 0.1, 0.01], callback=lambda report: report["done"] > 1)
    with pytest.warns(hm.ConvergenceWarning):
        model.fit(judged)
    assert not model.fit_report_.complete and np.isfinite(model.weights_).all()
