"""The same bytes whoever fits and in whatever order; what was finished is kept; what failed is tried again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from evalreport.cli import main
from evalreport.refit.journal import journal_path
from evalreport.refit.resampling import resample
from tests.refit.conftest import BAYES
from tests.samples.refits import bytes_of, make_journal

Write = Callable[..., Path]

FOREST = (
    '[[estimator]]\nname = "forest"\nimport = "sklearn.ensemble:RandomForestClassifier"\n'
    "parameters = {n_estimators = 5}\n"
)

LOGISTIC = '[[estimator]]\nname = "logistic"\nimport = "sklearn.linear_model:LogisticRegression"\n'


@pytest.mark.slow
def test_the_bytes_depend_on_no_backend_and_no_number_of_jobs(folder: Path, plan: Write):
    """One process, threads and loky, 1 to 3 at once: predictions and record are the same bytes."""
    scheme = 'name = "bootstrap-oob"\nreplicates = 6'
    found = []
    for place, (backend, jobs) in enumerate([("sequential", 1), ("threads", 3), ("loky", 2)]):
        path = plan(scheme, FOREST, LOGISTIC, top=f'backend = "{backend}"\njobs = {jobs}', name="plan.toml")
        resample(path, output=folder / f"out{place}")
        found.append(bytes_of(folder / f"out{place}"))
    assert found[0] == found[1] == found[2]
    assert set(found[0]) == {"predictions.parquet", "resample.json"}


@pytest.mark.slow
def test_another_estimator_moves_no_prediction(folder: Path, plan: Write):
    """A fit's seed belongs to its estimator's name: the forest's rows are the same alone and in company."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    alone = resample(plan('name = "5x2cv"', FOREST), output=folder / "alone")
    both = resample(plan('name = "5x2cv"', BAYES, FOREST), output=folder / "both")
    assert alone.predictions is not None
    assert both.predictions is not None
    table = pq.read_table(both.predictions)
    forest = table.filter(pc.equal(table.column("model"), "forest"))
    assert forest.equals(pq.read_table(alone.predictions))


def test_a_failed_fit_is_tried_again_and_the_others_are_kept(folder: Path, plan: Write, capsys):
    """Exit code 4 and the others' predictions; with the cause mended only the failed fits are done."""
    (folder / "moody.py").write_text(
        "import pathlib\nfrom sklearn.naive_bayes import GaussianNB\n"
        "HERE = pathlib.Path(__file__).parent\n"
        "class Moody(GaussianNB):\n"
        "    def fit(self, X, y):\n"
        "        with (HERE / 'fits').open('a') as f: f.write('.')\n"
        "        if not (HERE / 'calm').exists():\n"
        "            raise RuntimeError('moody')\n"
        "        return super().fit(X, y)\n"
    )
    own = '[[estimator]]\nname = "moody"\nimport = "moody:Moody"\n'
    path = plan('name = "kfold"\nfolds = 4', own, BAYES)
    words = ["resample", str(path), "-o", str(folder / "out"), "-q"]
    assert main(words) == 4
    said = capsys.readouterr().err
    assert "failed: moody (repeat 1, fold 1): RuntimeError: moody (moody.py, line 8)" in said
    assert "4 of 8 fits failed; the tracebacks are in" in said
    assert "moody.py" in (folder / "out" / "failures.md").read_text()
    assert journal_path(folder / "out").exists()
    (folder / "calm").touch()
    assert main(words) == 0
    # Four failed and four again; those of the other estimator were not done twice.
    assert len((folder / "fits").read_text()) == 8
    assert not journal_path(folder / "out").exists()
    assert set(bytes_of(folder / "out")) == {"predictions.parquet", "resample.json"}


def test_where_every_fit_fails_nothing_is_written_but_the_tracebacks(folder: Path, plan: Write, capsys):
    """Exit code 2: there are no predictions."""
    (folder / "hopeless.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n"
        "class Hopeless(GaussianNB):\n    def fit(self, X, y): raise RuntimeError('no hope')\n"
    )
    own = '[[estimator]]\nname = "own"\nimport = "hopeless:Hopeless"\n'
    path = plan('name = "kfold"\nfolds = 3', own)
    assert (
        main(["resample", str(path), "-o", str(folder / "out"), "--backend", "threads", "--jobs", "2"]) == 2
    )
    assert "3 of 3 fits failed" in capsys.readouterr().err
    assert set(bytes_of(folder / "out")) == {"failures.md"}


SLOW = """
import pathlib
import time
from sklearn.tree import DecisionTreeClassifier
SLOWLY = pathlib.Path(__file__).parent / "slowly"
class Slow(DecisionTreeClassifier):
    def fit(self, X, y):
        time.sleep(0.15 if SLOWLY.exists() else 0)
        return super().fit(X, y)
"""


def started(path: Path, output: Path, *words: str) -> subprocess.Popen[str]:
    """Start the command and wait until several fits stand in its journal."""
    command = [sys.executable, "-m", "evalreport", "resample", str(path), "-o", str(output), *words]
    # A shell starts what runs in the background deaf to SIGINT, which children inherit: a terminal's are not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
    finally:
        signal.signal(signal.SIGINT, before)
    journal = journal_path(output)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if journal.exists() and journal.stat().st_size > 5_000:
            return process
        time.sleep(0.02)
    pytest.fail(f"the fits did not come to work: {process.communicate()}")


@pytest.mark.system
@pytest.mark.parametrize(
    "backend, how, code",
    [("sequential", signal.SIGTERM, 143), ("loky", signal.SIGKILL, -9), ("loky", signal.SIGINT, 130)],
)
def test_an_interrupted_plan_goes_on_and_gives_the_same_bytes(folder: Path, plan: Write, how, backend, code):
    """Killed, or stopped by Ctrl-C or SIGTERM: nothing half-written, and the rest is done by the next call."""
    # A name of its own: this process keeps the module of another test's folder.
    module = f"slow_tree_{backend}_{how}"
    (folder / f"{module}.py").write_text(SLOW)
    own = f'[[estimator]]\nname = "slow"\nimport = "{module}:Slow"\n'
    path = plan('name = "bootstrap"\nreplicates = 40', own)
    (folder / "slowly").touch()
    process = started(path, folder / "out", "--backend", backend, "--jobs", "2")
    os.killpg(process.pid, how) if how == signal.SIGKILL else process.send_signal(how)
    _, said = process.communicate(timeout=60)
    assert not (folder / "out").exists()
    assert process.returncode == code, said
    if how != signal.SIGKILL:
        assert "Traceback" not in said
        assert "what was finished is kept" in said
    (folder / "slowly").unlink()
    again = resample(path, output=folder / "out")
    assert 0 < again.n_reused < again.n_fits == 40
    resample(path, output=folder / "whole")
    assert bytes_of(folder / "out") == bytes_of(folder / "whole")
    assert not list(folder.glob(".*"))


def test_more_replicates_go_on_from_the_ones_that_are_there(folder: Path, plan: Write):
    """Of 12 replicates the first 8 are those of the shorter plan."""
    written = make_journal(plan('name = "bootstrap"\nreplicates = 8', BAYES), folder)
    journal_path(folder / "out").write_bytes(written)
    longer = plan('name = "bootstrap"\nreplicates = 12', BAYES)
    assert resample(longer, output=folder / "out").n_reused == 8
