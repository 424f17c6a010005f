"""Two and eight processes that write to the same place at the same time, and clocks that are set back.

mixed
    the folder holds files of several runs, or not all of one. This must never be.
lost
    a run of the history is missing, stands there twice or does not follow the one before it. Never.
failed
    a process ended otherwise than it may: with 0, or, where only one can work on a plan, with 2. Never.
left
    a temporary file or folder is left. Never.
different
    with clocks set back the history says something else of the same runs than with clocks that go forward. Never.
"""

from __future__ import annotations

import random
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from research.campaign.processes import NOWHERE, ended, evalreport, forked, from_child
from research.campaign.records import MEMORY, Part, Row, faults_of, file_system, measured
from research.campaign.scenes import QUICK, temporary_in, warm_up, write_models, write_plan

FAULTS = ("mixed", "lost", "failed", "left", "different")
TRIES = 60
MOST = 8
TIME = re.compile(rb"\d{4}-\d\d-\d\dT[\d:]+Z")
DAY = datetime(2026, 1, 1, tzinfo=UTC)

Files = dict[str, bytes]


def part(*, seed: int = 0, tries: int = TRIES, folder: Path = MEMORY) -> Part:
    """Let `run`, `audit` and `resample` meet themselves; then audit with clocks that are set back."""
    made = Part("writers", seed, tries, versions={"file system": file_system(folder)})
    rng = random.Random(seed)  # noqa: S311 - of moments, not of secrets
    with measured(made), tempfile.TemporaryDirectory(prefix="writers-", dir=folder) as place:
        work = Path(place)
        models = [write_models(work / f"models-{number}", number) for number in range(MOST)]
        plans = [write_plan(work, number) for number in range(MOST)]
        warm_up(work, models[0], plans[0])
        ways: dict[str, Callable[[Path, int], set[str]]] = {
            "run into one folder": partial(_runs, models, _alone(work, models)),
            "audit into one history": partial(_audits, models),
            "resample into one folder": partial(_resamples, plans),
        }
        every = [(what, way, writers) for what, way in ways.items() for writers in (2, MOST)]
        for number, (what, way, writers) in enumerate(every):
            row = Row(f"{what}, {writers} at once")
            made.rows.append(row)
            for _ in range(_share(tries, number, len(every) + 1)):
                base = work / "try"
                shutil.rmtree(base, ignore_errors=True)
                base.mkdir()
                row.tries += 1
                row.counts.update(way(base, writers))
        made.rows.append(row := Row("audits with clocks set back"))
        for _ in range(_share(tries, len(every), len(every) + 1)):
            row.tries += 1
            row.counts.update(_set_back(models, work / "clocks", rng))
    made.findings += faults_of(made, FAULTS)
    return made


def _share(tries: int, number: int, of: int) -> int:
    return tries * (number + 1) // of - tries * number // of


def _alone(work: Path, models: Sequence[Path]) -> list[Files]:
    """Return what each run writes that nothing disturbs."""
    found = []
    for number, model in enumerate(models):
        out = work / f"alone-{number}"
        assert ended(forked(partial(evalreport, "run", model, "-o", out, *QUICK), said=NOWHERE)) == 0
        found.append(_files(out))
    return found


def _files(folder: Path) -> Files:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def _together(actions: Sequence[Callable[[], object]]) -> list[int]:
    processes = [forked(action, said=NOWHERE) for action in actions]
    return [ended(process) for process in processes]


def _runs(models: Sequence[Path], alone: Sequence[Files], base: Path, writers: int) -> set[str]:
    codes = _together(
        [partial(evalreport, "run", model, "-o", base / "out", *QUICK) for model in models[:writers]]
    )
    found = {"failed"} if any(codes) else set()
    if _files(base / "out") not in alone[:writers]:
        found.add("mixed")
    return (found | ({"left"} if temporary_in(base) else set())) or {"one whole"}


def _audits(models: Sequence[Path], base: Path, writers: int) -> set[str]:
    """Into one history and one folder: run by run, each compared with the one before; the last one's files stay."""
    url = f"sqlite:///{base / 'audits.db'}"
    words = ("--history", url, "-o", base / "out", *QUICK)
    codes = _together([partial(evalreport, "audit", model, *words) for model in models[:writers]])
    found = {"failed"} if any(codes) else set()
    recorded = from_child(partial(_recorded, url))
    if [before for before, _ in recorded] != [None, *range(1, writers)]:
        found.add("lost")
    written = (base / "out" / "results.json").read_bytes()
    if sum(results == written for _, results in recorded) != 1:
        found.add("mixed")
    return (found | ({"left"} if temporary_in(base) else set())) or {"one whole"}


def _recorded(url: str) -> list[tuple[int | None, bytes]]:
    """Return for every run of a history which passed run came before it, and its results."""
    from evalreport.history.connection import open_history
    from evalreport.history.store import results_of, runs
    from research.campaign.histories import whole

    history = open_history(url)
    assert whole(history)
    return [(run.last_run, results_of(history, run.id)) for run in runs(history)]


def _resamples(plans: Sequence[Path], base: Path, writers: int) -> set[str]:
    """The finished fits are one process's: the others are told so, and the folder is that of those that worked."""
    codes = _together(
        [partial(evalreport, "resample", plan, "-o", base / "out", "-q") for plan in plans[:writers]]
    )
    found = set() if 0 in codes and set(codes) <= {0, 2} else {"failed"}
    whole = []
    for number, code in enumerate(codes):
        if code == 0:
            out = base / f"alone-{number}"
            assert (
                ended(forked(partial(evalreport, "resample", plans[number], "-o", out, "-q"), said=NOWHERE))
                == 0
            )
            whole.append(_files(out))
    if _files(base / "out") not in whole:
        found.add("mixed")
    return (found | ({"left"} if temporary_in(base) else set())) or {"one whole"}


def _set_back(models: Sequence[Path], base: Path, rng: random.Random) -> set[str]:
    """Audit the same models twice, day by day and with clocks that jump back: runs follow as recorded."""
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir()
    chosen = rng.sample(list(models), 4)
    forward = [DAY + timedelta(days=day) for day in range(4)]
    jumping = [DAY - timedelta(days=rng.randrange(4000), seconds=rng.randrange(86_400)) for _ in chosen]
    jumping.sort(reverse=True)
    said = []
    for name, times in (("forward", forward), ("back", jumping)):
        url = ("--history", f"sqlite:///{base / name}.db")
        commands: list[tuple[object, ...]] = [
            ("audit", model, "--time", time.isoformat(), "-o", base / name, *url, *QUICK)
            for model, time in zip(chosen, times, strict=True)
        ]
        commands += [("history", *words, *url) for words in (("list",), ("site", base / f"{name}-site"))]
        if any(ended(forked(partial(evalreport, *words), said=NOWHERE)) for words in commands):
            return {"failed"}
        recorded = from_child(partial(_recorded, url[1]))
        said.append([(before, TIME.sub(b"", results)) for before, results in recorded])
    if [before for before, _ in said[0]] != [None, 1, 2, 3]:
        return {"lost"}
    return {"the same"} if said[0] == said[1] else {"different"}
