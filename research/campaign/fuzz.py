"""Feed the program with input that is wrong in every way, and count how it ends.

Each try is a call of the command line in this process, in a folder of its own. It is drawn from the seed and its
number, so that it can be made again. Whatever ends otherwise than with 0, 1, 2, 3 or 4 is a finding:

defect
    exit code 70: an error that the program did not foresee.
escaped
    an exception that not even the outermost handler caught, or another exit code.
hang
    more than the time limit, in seconds of the processor (or ten times as many on the clock).
crash
    the process died: memory that was not its own, or a wait that nothing ends.
untidy
    a traceback, a warning of a library, an exit code of 2 or 4 without a word, or a secret that was shown.
accepted
    files that contradict one another were analysed.

A finding is saved with its files.
"""

from __future__ import annotations

import contextlib
import faulthandler
import hashlib
import io
import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalreport import cli, errors
from evalreport.reviews import comment as reviews
from research.campaign.answers import host
from research.campaign.records import CACHE, MEMORY, Part, Row, measured
from research.campaign.targets import ADDRESS, AGGREGATES, DAMAGED, HISTORIES, MADE, TARGETS, Case

ROOT = Path(__file__).resolve().parents[2]
CODES = (0, 1, 2, 3, 4)
SECRET = "Hunter2-geheim"  # noqa: S105 - the token of the tries
MOST_MEMORY = 8 * 10**9
SECONDS = 5.0
TRIES = 100_000
MOST_DAMAGED = 10_000
FAULTS = ("defect", "escaped", "hang", "crash", "untidy", "accepted")
FOUND = CACHE / "fuzz"
FOUND_DAMAGED = CACHE / "damage"


class Hang(BaseException):
    """A try took longer than it may."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a try ended: its exit code, what it is (``fine`` or a kind of finding), and what tells findings apart."""

    code: int | None
    kind: str
    what: str = ""
    detail: str = ""

    @property
    def signature(self) -> str:
        """The same for findings of one cause."""
        return f"{self.kind}: {self.what}"


# --- one try --------------------------------------------------------------------------------------------------------


def drawn(seed: int, number: int, targets: Sequence[str]) -> tuple[str, Case]:
    """Return a try: its target and its case."""
    rng = random.Random(f"{seed} {number}")  # noqa: S311 - no secret is drawn
    target = rng.choices(targets, [TARGETS[name][1] for name in targets])[0]
    return target, TARGETS[target][0](rng)


def tried(case: Case, folder: Path, address: str, answers: list[bytes]) -> Outcome:
    """Run one case in an empty folder."""
    _fill(folder, case)
    answers[:] = case.answers
    seen: list[BaseException] = []
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    code: int | None = None
    try:
        with (
            _surroundings(folder, case, address, seen),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = cli.main([word.replace(ADDRESS, address) for word in case.words])
    except Hang as error:
        return Outcome(None, "hang", _where(error), "".join(traceback.format_exception(error)))
    except BaseException as error:  # noqa: BLE001 - that is what is looked for
        seen.append(error)
    out.flush()
    if case.contradicts and not seen and code in (0, 1, 3):
        return Outcome(code, "accepted", case.words[0], err.getvalue())
    return _judged(code, out.buffer.getvalue().decode("utf-8", "replace"), err.getvalue(), seen)


def _judged(code: int | None, out: str, err: str, seen: list[BaseException]) -> Outcome:
    """Say what an ended try is."""
    if seen:
        detail = "".join(traceback.format_exception(seen[0]))
        kind = "defect" if code == cli.EXIT_DEFECT else "escaped"
        return Outcome(code, kind, f"{type(seen[0]).__name__} in {_where(seen[0])}", detail)
    if code not in CODES:
        return Outcome(code, "escaped", f"exit code {code}", err)
    for sign in ("Traceback (most", "Warning:", SECRET):
        if sign in err or (sign == SECRET and sign in out):
            line = next((line for line in err.splitlines() if sign in line), sign)
            return Outcome(code, "untidy", line.replace(f"{ROOT}/", "")[:100], err)
    if code in (2, 4) and not (err + out).strip():
        return Outcome(code, "untidy", f"exit code {code} without a word", out)
    return Outcome(code, "fine")


def _where(error: BaseException) -> str:
    """Return the innermost function of ours that an error went through."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if "/evalreport/" in frame.filename
    ]
    return f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "no function of ours"


def _fill(folder: Path, case: Case) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@contextlib.contextmanager
def _surroundings(folder: Path, case: Case, address: str, seen: list[BaseException]) -> Iterator[None]:
    """Give a try its folder, its variables and its time; note the error of a defect."""
    before, here = dict(os.environ), Path.cwd()
    report = cli._report_defect

    def noted(error: Exception, *, verbose: bool) -> int:
        seen.append(error)
        return report(error, verbose=verbose)

    def stop(_number: int, _frame: Any) -> None:
        raise Hang

    os.environ.update({name: value.replace(ADDRESS, address) for name, value in case.environment.items()})
    os.chdir(folder)
    cli._report_defect = noted
    for timer, number, seconds in (
        (signal.ITIMER_PROF, signal.SIGPROF, SECONDS),
        (signal.ITIMER_REAL, signal.SIGALRM, 10 * SECONDS),
    ):
        signal.signal(number, stop)
        signal.setitimer(timer, seconds)
    faulthandler.dump_traceback_later(20 * SECONDS, exit=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        cli._report_defect = report
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)
        errors.forget()


# --- findings -------------------------------------------------------------------------------------------------------


def saved(case: Case, outcome: Outcome, target: str, place: str, out: Path) -> Path:
    """Write a finding: its files, how it is called and how it ended."""
    digest = hashlib.sha256(f"{target} {outcome.signature}".encode()).hexdigest()[:10]
    folder = out / f"{target}-{outcome.kind}-{digest}"
    _fill(folder / "files", case)
    facts = {
        "try": place,
        "words": case.words,
        "environment": case.environment,
        "answers": [answer.decode("latin-1") for answer in case.answers],
        "outcome": outcome.signature,
        "code": outcome.code,
    }
    (folder / "case.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (folder / "said.txt").write_text(outcome.detail, encoding="utf-8", errors="backslashreplace")
    return folder


# --- many tries -----------------------------------------------------------------------------------------------------


def work(seed: int, first: int, last: int, targets: Sequence[str], found: str, scratch: str) -> None:
    """Make the tries from ``first`` to before ``last``; a line of the log for each, begun before it."""
    import resource  # Windows has none

    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    for name in [*os.environ]:
        if name.startswith(("GITHUB_", "GITLAB_", "CI", "GH_", "PG")):
            del os.environ[name]
    setattr(reviews, "PAUSES", ())  # noqa: B010 - a constant: nobody waits between tries here
    out, folder = Path(found), Path(scratch, "try")
    with host() as (address, answers), (out / "log").open("a", buffering=1) as log:
        if "results" in targets:
            MADE.update(_made(folder, address, answers))
        if not {*DAMAGED}.isdisjoint(targets):
            AGGREGATES.extend(_aggregates(folder, address, answers))
            HISTORIES.append(_history(folder, address, answers))
        known: set[str] = set()
        for number in range(first, last):
            started = time.process_time()
            target, case = drawn(seed, number, targets)
            Path(scratch, "case").write_bytes(pickle.dumps(case))
            log.write(f"{number} {target}")
            log.flush()
            outcome = tried(case, folder, address, answers)
            spent = time.process_time() - started
            if outcome.kind != "fine" and outcome.signature not in known:
                known.add(outcome.signature)
                saved(case, outcome, target, f"--seed {seed}, number {number}", out)
            log.write(f" {outcome.code} {outcome.kind} {spent:.6f}\n")


def _csv(head: str, count: int, row: Callable[[int], str]) -> bytes:
    return "\n".join([head, *map(row, range(count)), ""]).encode()


def _made(folder: Path, address: str, answers: list[bytes]) -> dict[str, tuple[bytes, bytes]]:
    """Return results of our own for some kinds of predictions, with those predictions."""
    tables: dict[str, tuple[str, Callable[[int], str], tuple[str, ...]]] = {
        "binary": (
            "id,y_true,y_pred,p_1,sex",
            lambda i: f"e{i},{i % 2},{i % 3 % 2},{i % 7 / 7:.2f},{'fm'[i % 2]}",
            ("accuracy", "roc_auc"),
        ),
        "numbers": (
            "id,model,y_true,y_pred",
            lambda i: f"e{i // 2},{'ab'[i % 2]},{i // 2}.5,{i // 2 + i % 3}.25",
            ("rmse",),
        ),
        "folds": (
            "id,model,fold,y_true,y_pred",
            lambda i: f"e{i // 2},{'ab'[i % 2]},{i // 2 % 3},{i // 2 % 2},{i % 3 % 2}",
            ("accuracy",),
        ),
        "outcome": ("id,model,outcome", lambda i: f"e{i // 2},{'ab'[i % 2]},{i % 3 % 2}", ()),
    }
    made = {}
    for name, (head, row, metrics) in tables.items():
        rows = _csv(head, 24, row)
        words = ["run", "m.csv", "--resamples", "20", "-f", "json", "-o", "out", "-q", "--gate", "n >= 5"]
        words += [word for metric in metrics for word in ("-m", metric)]
        outcome = tried(Case(tuple(words), {"m.csv": rows}), folder, address, answers)
        assert outcome.code == 0, outcome
        made[name] = (folder / "out" / "results.json").read_bytes(), rows
    return made


def _aggregates(folder: Path, address: str, answers: list[bytes]) -> Iterator[dict[str, bytes]]:
    """Yield the files of aggregates: of probabilities and scores by a slice, of labels, and of labels in clusters."""

    def row(i: int) -> str:
        p, score = i * 7 % 11 / 11 * 0.6 + 0.3 * (i % 2), (i * 5 % 13) + 4 * (i % 2)
        return f"e{i},{i % 2},{p:.3f},{score},{'fmd'[i % 3]}"

    scored = _csv("id,y_true,p_1,score,sex", 90, row)
    labels = _csv("id,y_true,y_pred,sex", 90, lambda i: f"e{i},{i % 3},{i * 5 % 7 % 3},{'fmd'[i % 3]}")
    other = _csv("id,y_true,p_1,sex", 90, lambda i: f"e{i},{i % 2},{i * 5 % 7 / 7:.3f},{'fmd'[i % 3]}")
    for files, words in (
        ({"m/a.csv": scored, "m/b.csv": other}, ("--slice", "sex")),
        ({"m/a.csv": other}, ("--threshold", "0.4", "--positive", "0")),
        ({"m/a.csv": labels}, ("--slice", "sex")),
        ({"m/a.csv": labels}, ("--cluster", "sex")),
    ):
        outcome = tried(Case(("aggregate", "m", "-o", "d", "-q", *words), files), folder, address, answers)
        assert outcome.code == 0, outcome
        yield {path.name: path.read_bytes() for path in sorted((folder / "d").iterdir())}


def _history(folder: Path, address: str, answers: list[bytes]) -> dict[str, bytes]:
    """Return a history of four nights, the first two of which are accepted, and the predictions of a fifth."""

    def night(number: int) -> bytes:
        def row(i: int) -> str:
            return f"n{number}e{i // 2},{'ab'[i % 2]},{i // 2 % 2},{(i * 7 + number) % 5 % 2},{'fm'[i // 2 % 3 % 2]}"

        return _csv("id,model,y_true,y_pred,sex", 80, row)

    found: dict[str, bytes] = {}
    quick = ("-m", "accuracy", "--resamples", "20", "-f", "json", "-o", "-", "-q", "--slice", "sex")
    for number in range(4):
        time_ = f"2026-01-0{number + 1}T00:00:00Z"
        words: tuple[str, ...] = ("audit", "m.csv", "--history", "sqlite:///h.db", "--time", time_, *quick)
        outcome = tried(Case(words, {**found, "m.csv": night(number)}), folder, address, answers)
        assert outcome.code == 0, outcome
        found = {"h.db": (folder / "h.db").read_bytes()}
    words = ("history", "accept", "1", "2", "--history", "sqlite:///h.db")
    assert tried(Case(words, found), folder, address, answers).code == 0
    return {"h.db": (folder / "h.db").read_bytes(), "m.csv": night(4)}


def campaign(seed: int, tries: int, targets: Sequence[str], out: Path) -> None:
    """Make all tries, in processes that may die; a log has number, target, code, how it ended and seconds of each."""
    log = out / "log"
    log.write_text("")
    first = 0
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as scratch:
        while first < tries:
            given = ", ".join(map(repr, (seed, first, tries, list(targets), str(out), scratch)))
            code = f"from research.campaign.fuzz import work; work({given})"
            done = subprocess.run(
                [sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False
            )
            if done.returncode == 0:
                break
            last = log.read_text().rpartition("\n")[2].split()
            if len(last) != 2:
                raise RuntimeError(done.stderr)
            case: Case = pickle.loads((Path(scratch) / "case").read_bytes())  # noqa: S301 - our own
            outcome = Outcome(None, "crash", f"signal or exit {done.returncode}", done.stderr)
            saved(case, outcome, last[1], f"--seed {seed}, number {last[0]}", out)
            with log.open("a") as file:
                file.write(" None crash 0\n")
            first = int(last[0]) + 1


def logged(log: Path) -> list[list[str]]:
    """Return the tries of a log that came to their end."""
    lines = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
    return [entry for entry in lines if len(entry) == 5]


def part(*, seed: int = 1, tries: int = TRIES, out: Path = FOUND) -> Part:
    """Make the tries of all targets but damaged folders; interrupted, those that were made."""
    return _part("fuzz", [name for name in TARGETS if name not in DAMAGED], seed, tries, out)


def damaged(*, seed: int = 1, tries: int = MOST_DAMAGED, out: Path = FOUND_DAMAGED) -> Part:
    """Make the tries on damaged aggregates and histories; interrupted, those that were made."""
    return _part("damage", list(DAMAGED), seed, tries, out)


def _part(name: str, targets: Sequence[str], seed: int, tries: int, out: Path) -> Part:
    made = Part(name, seed, tries)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with measured(made):
        with contextlib.suppress(KeyboardInterrupt):
            campaign(seed, tries, targets, out)
        count(made, out, targets)
    return made


def count(made: Part, out: Path, targets: Sequence[str]) -> None:
    """Put into a part how the tries of a log ended, and what was found."""
    log = logged(out / "log")
    for target in targets:
        own = [entry for entry in log if entry[1] == target]
        endings = Counter(f"exit {code}" if kind == "fine" else kind for _, _, code, kind, _ in own)
        made.rows.append(Row(target, len(own), endings))
    made.findings += [json.loads(case.read_text())["outcome"] for case in sorted(out.glob("*/case.json"))]
