"""What every test stands on."""

from __future__ import annotations

import atexit
import compileall
import gc
import gzip
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

import evalreport
from evalreport.errors import InputError, OutputError, forget
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.schema.results import Results
from evalreport.sources.database import one_database
from tests.samples.prediction_files import Write, arrays_of

collect_ignore = ["portable"]
"""What takes system calls away on import, for a process of its own."""

# A busy machine makes the drawing of examples slow, which is no fault of a test.
SLOW_DRAWING = [HealthCheck.too_slow]
settings.register_profile("quick", max_examples=15, suppress_health_check=SLOW_DRAWING)
settings.register_profile("thorough", max_examples=100, suppress_health_check=SLOW_DRAWING)
settings.load_profile("quick")  # `make test-slow` takes the other one

WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
"""The number of this test process, counted from 0."""

os.environ["SOURCE_DATE_EPOCH"] = "1767225600"  # every report of a test bears the same day


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Compile the package before the test processes start: in a new checkout each would do it by itself."""
    compileall.compile_dir(Path(evalreport.__file__).parent, quiet=2)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[pytest.CollectReport]:
    """Let every second process collect from the end, so that two of them compile half of the tests each."""
    report = yield
    if isinstance(collector, pytest.Session | pytest.Directory) and WORKER % 2:
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests into one order in every process."""
    items.sort(key=lambda item: item.path)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Leave what collection makes out of garbage collections: nine thousand tests stay to the end of the session.

    Each look at all of it takes a third of a second, and a twentieth of the time of all tests; later ones are rare.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Iterator[Any]:
    """Look for examples in the package alone: no test's docstring has one, and each file would be looked through."""
    collectors = yield
    return [collector for collector in collectors if not isinstance(collector, DoctestModule)]


def pytest_unconfigure() -> None:
    """Give all objects back at the very end, so that libraries whose modules count theirs find none left over.

    Not before: pytest then looks five times through what can be freed.
    """
    atexit.register(gc.unfreeze)


@pytest.fixture(scope="session", autouse=True)
def interrupts_arrive() -> None:
    """Let SIGINT interrupt: a shell starts what runs in the background deaf to it, and some tests interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def database() -> Iterator[None]:
    """Let all tests of a process read files through one DuckDB: a new one for each of them takes 20 ms."""
    with one_database():
        yield


@pytest.fixture(autouse=True)
def secrets_are_forgotten() -> Iterator[None]:
    """Forget the secrets of one test before the next: a process of the program has those of one command only."""
    yield
    forget()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of text or bytes below the temporary folder, gzipped where its name ends so."""

    def _write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return _write


@pytest.fixture
def refused(write: Write) -> Callable[..., InputError]:
    """Load one file that must be refused, and return the error."""

    def _refused(name: str, content: str | bytes, **options: Any) -> InputError:
        with pytest.raises(InputError) as caught:
            load(write(name, content), options=Options(**options))
        return caught.value

    return _refused


@pytest.fixture
def loaded(write: Write) -> Callable[..., Predictions]:
    """Load one file of the given content."""

    def _loaded(content: str, name: str = "model.csv", **options: Any) -> Predictions:
        return load(write(name, content), options=Options(**options))

    return _loaded


@pytest.fixture
def content() -> Callable[[Predictions], dict[str, Any]]:
    """Everything that an analysis reads, to be compared with ``==``."""
    return lambda predictions: dict(arrays_of(predictions))


@pytest.fixture
def model_of() -> Callable[[Predictions, str], ModelOutputs]:
    """One model's outputs by its name."""
    return lambda predictions, name: next(m for m in predictions.models if m.name == name)


@pytest.fixture
def codes_of() -> Callable[[Predictions], list[str]]:
    """The codes of a table's warnings."""
    return lambda predictions: [warning.code for warning in predictions.warnings]


@pytest.fixture(scope="session")
def simulate() -> Callable[..., Results]:
    """Results built by plain numpy, with no engine."""
    from tests.samples.simulated import simulated

    return simulated


@pytest.fixture
def templates_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the documents of templates in this process; tests/report/test_template_process.py has the real one."""

    def made(documents: Any, arguments: Any, names: Any, **_limits: Any) -> dict[str, Any]:
        ways, found = documents(*arguments), {}
        for name in names:
            begin, finish = ways[name]
            try:
                found[name] = finish(begin())
            except OutputError as error:
                found[name] = error
        return found

    monkeypatch.setattr("evalreport.report.writing.made_within_limits", made)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make reports without charts and the layout of the PDF, where their words are the point: they take most time."""
    monkeypatch.setattr("evalreport.plots.pictures.drawn", lambda _figure: "<svg></svg>")
    monkeypatch.setattr("evalreport.report.pdf.pdf_bytes", lambda *_page, **_time: b"%PDF-1.7\n")


@pytest.fixture
def primary_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute the metric that decides alone where a test names none: the others take most of a small run's time."""
    from evalreport import analysis

    chosen = analysis.chosen

    def named_or_primary(predictions: Any, names: Any, in_gates: Any, primary: str | None) -> Any:
        return chosen(predictions, names or (() if primary is None else (primary,)), in_gates, primary)

    monkeypatch.setattr(analysis, "chosen", named_or_primary)


@pytest.fixture(scope="session")
def empty_history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a history without runs."""
    from evalreport.history.connection import open_history

    path = tmp_path_factory.mktemp("history") / "audits.db"
    open_history(f"sqlite:///{path}", create=True).engine.dispose()
    return path


@pytest.fixture
def history(tmp_path: Path, empty_history: Path) -> Any:
    """A new history in SQLite."""
    from evalreport.history.connection import open_history

    shutil.copy(empty_history, tmp_path)
    return open_history(f"sqlite:///{tmp_path / 'audits.db'}")


@pytest.fixture(scope="session")
def suite() -> Results:
    """Three models on four tasks, run once for the tests of its numbers and of its pages."""
    from tests.samples.suites import outcomes

    return evalreport.evaluate(outcomes(), resamples=200, gates=["b.mean_outcome[task=gsm8k] >= 0.8"])


@pytest.fixture(scope="session")
def several() -> Results:
    """Two models with probabilities and slices."""
    from tests.samples.labels import FOREST, LOGREG, TRUTH

    scores = {
        name: {
            "p_1": [0.1 + 0.8 * p - i % 7 / 100 for i, p in enumerate(labels)],
            "part_of": ["a", "b", "c"] * 20,
        }
        for name, labels in (("forest", FOREST), ("logreg", LOGREG))
    }
    return evalreport.evaluate(scores, truth=TRUTH, resamples=50, slices="part_of")


@pytest.fixture(scope="session")
def accepted_week(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a history in which the seven nights of a good week are accepted together."""
    from evalreport.history.connection import open_history
    from evalreport.history.store import accept
    from tests.samples.audits import audited
    from tests.samples.nights import WEEK, night

    path = tmp_path_factory.mktemp("week") / "audits.db"
    history = open_history(f"sqlite:///{path}", create=True)
    for number, accuracy in enumerate(WEEK):
        audited(history, night(accuracy, 200, first=10_000 * number))
    accept(history, *range(1, len(WEEK) + 1), time="2025-01-08T00:00:00Z", note="a good week")
    history.engine.dispose()
    return path


@pytest.fixture
def week(tmp_path: Path, accepted_week: Path) -> Any:
    """A copy of that history; the next night is number 7, counted from 0."""
    from evalreport.history.connection import open_history

    shutil.copy(accepted_week, tmp_path / "week.db")
    return open_history(f"sqlite:///{tmp_path / 'week.db'}")
