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
from evalreport.refit.prediction_tables import journal_path, open_journal
from evalreport.refit.resampling import resample
from tests.refit.conftest import BAYES, TREE

Write = Callable[..., Path]
FOREST = (
    '[[estimator]]\nname = "forest"\nimport = "sklearn.ensemble:RandomForestClassifier"\n'
    "parameters = {n_estimators = 5}\n"
)
LOGISTIC = '[[estimator]]\nname = "logistic"\nimport = "sklearn.linear_model:LogisticRegression"\n'


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


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


@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz", "p.parquet"])
def test_every_written_format_holds_the_same_numbers_twice_over(folder: Path, plan: Write, name):
    """Two runs give the same bytes, and a CSV reads back to the very numbers of the Parquet file."""
    import evalreport

    path = plan('name = "kfold"\nfolds = 3', BAYES)
    resample(path, output=folder / name)
    first = (folder / name).read_bytes()
    resample(path, output=folder / name)
    assert (folder / name).read_bytes() == first
    reference = resample(path, output=folder / "reference")
    assert reference.predictions is not None
    one, two = evalreport.load(folder / name), evalreport.load(reference.predictions)
    assert (one.models[0].proba == two.models[0].proba).all()
    assert (folder / "p.resample.json").exists()


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
    [
        ("sequential", signal.SIGKILL, -9),
        ("sequential", signal.SIGTERM, 143),
        ("loky", signal.SIGKILL, -9),
        ("loky", signal.SIGINT, 130),
    ],
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


def test_a_torn_journal_loses_its_last_record_only(folder: Path, plan: Write):
    """Cut anywhere, and with a byte turned: the whole records before are kept, the bytes are the same."""
    path = plan('name = "kfold"\nfolds = 6', BAYES)
    whole = resample(path, output=folder / "whole")
    journal = journal_path(folder / "out")
    kept: list[int] = []
    written = make_journal(path, folder)
    for size in (0, 5, 40, len(written) // 2, len(written) - 1, len(written)):
        journal.write_bytes(written[:size])
        again = resample(path, output=folder / "out")
        kept.append(again.n_reused)
        assert bytes_of(folder / "out") == bytes_of(folder / "whole")
    assert kept[0] == kept[1] == kept[2] == 0
    assert 0 < kept[3] < 6
    assert kept[4:] == [5, 6]
    journal.write_bytes(written[:-1] + bytes([written[-1] ^ 1]))
    assert resample(path, output=folder / "out").n_reused == 5
    assert whole.n_fits == 6


def make_journal(path: Path, folder: Path) -> bytes:
    """The journal of a finished plan, which a run that ends well removes."""
    from evalreport.refit import resampling

    seen: list[bytes] = []
    usual = resampling._write

    def spy(*arguments, **named):
        seen.append(journal_path(folder / "out").read_bytes())
        return usual(*arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resampling, "_write", spy)
        resample(path, output=folder / "out")
    return seen[0]


@pytest.mark.parametrize(
    "scheme, parameters, top",
    [
        ('name = "kfold"\nfolds = 6', "", "seed = 1"),
        ('name = "kfold"\nfolds = 5', "", ""),
        ('name = "kfold"\nfolds = 6', "parameters = {var_smoothing = 0.1}\n", ""),
    ],
    ids=["seed", "folds", "parameters"],
)
def test_fits_of_another_plan_are_not_taken_for_this_one(folder: Path, plan: Write, scheme, parameters, top):
    """Seed, scheme and parameters are part of what a finished fit is known by."""
    written = make_journal(plan('name = "kfold"\nfolds = 6', BAYES), folder)
    path = plan(scheme, BAYES + parameters, top=top)
    journal_path(folder / "out").write_bytes(written)
    assert resample(path, output=folder / "out").n_reused == 0


def test_fits_of_other_data_are_not_taken_for_these(folder: Path, plan: Write):
    """One value that is changed in the file is enough."""
    path = plan('name = "kfold"\nfolds = 6', BAYES)
    written = make_journal(path, folder)
    text = (folder / "examples.csv").read_text()
    (folder / "examples.csv").write_text(text.replace("e7,", "e7,1", 1))
    journal_path(folder / "out").write_bytes(written)
    assert resample(path, output=folder / "out").n_reused == 0


def test_more_replicates_go_on_from_the_ones_that_are_there(folder: Path, plan: Write):
    """Of 12 replicates the first 8 are those of the shorter plan."""
    written = make_journal(plan('name = "bootstrap"\nreplicates = 8', BAYES), folder)
    journal_path(folder / "out").write_bytes(written)
    longer = plan('name = "bootstrap"\nreplicates = 12', BAYES)
    assert resample(longer, output=folder / "out").n_reused == 8


def test_two_processes_do_not_write_one_journal(folder: Path, plan: Write, capsys):
    """The second one is refused by name."""
    pytest.importorskip("fcntl")
    path = plan('name = "kfold"\nfolds = 3', TREE)
    with open_journal(journal_path(folder / "out")):
        assert main(["resample", str(path), "-o", str(folder / "out"), "-q"]) == 2
    assert "another evalreport resample is at work on this output" in capsys.readouterr().err


def test_an_earlier_output_stays_until_the_new_one_is_whole(folder: Path, plan: Write, monkeypatch):
    """A disk that is full at the end: the old predictions byte for byte, and the fits are not lost."""
    from evalreport.errors import OutputError

    resample(plan('name = "kfold"\nfolds = 3', BAYES), output=folder / "out")
    before = bytes_of(folder / "out")

    def full(_stream: object) -> None:
        raise OSError(28, "No space left on device")

    path = plan('name = "kfold"\nfolds = 4', BAYES)
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OutputError, match="No space left on device; the finished fits are kept"):
            resample(path, output=folder / "out")
    assert bytes_of(folder / "out") == before
    assert resample(path, output=folder / "out").n_reused == 4
