"""Kill the program at every step and at any moment, and look at what is left: `python -m campaign.kills`.

A try prepares a folder with an earlier run's files, starts a process that writes a later run's into it, and kills that
process: before its k-th step on the file system (an audit hook of Python counts them), or after a random time. Then:

mixed
    files of both runs stand in the folder. This must never be.
lost
    a file of the user's, or a run of the history, is gone or changed. This must never be.
broken
    after ``recover``, which every next command begins with, the folder holds neither run's files whole. Never.
stuck
    the next run does not give its own files, or leaves a temporary folder. Never.
untrue
    interrupted (SIGINT, SIGTERM), the program said something else than what stands there. Never.
partial
    some files of one run, and none of the other, until the next command: only where the files were moved one by one,
    because others' stood beside them.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import pickle
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

FAULTS = ("mixed", "lost", "broken", "stuck", "untrue")
OUTCOMES = ("old", "new", "partial", *FAULTS)
TIMES = ("--time", "2026-01-01T00:00:00Z")
QUICK = ("-m", "accuracy", "--resamples", "50", "-f", "html,json,md", "-q")
MOST_TRIES = 4
"""For each kill: a process may be done before it is killed."""
OTHERS = {"notes.txt": b"mine", "figures/mine.svg": b"mine", "data/rows.csv": b"a,b\n"}

Files = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Scene:
    """One way to be killed.

    Attributes
    ----------
    before, after
        The files of the earlier and of the later run.
    act
        Writes the later run's files into the folder that it is given.
    again
        What the next run does, where it can be had quicker than by ``act``.
    others
        Files of the user's in the same folder.
    place
        Of the output, below the folder of the try; "." in it stands for being there.
    signals
        What ends the process.
    run_before
        Prepares what else an earlier run left, such as a history.
    check
        Says whether that is whole.
    weight
        How many tries it gets, compared with the others.
    """

    name: str
    before: Files
    after: Files
    act: Callable[[Path], object]
    again: Callable[[Path], object] | None = None
    others: Files = field(default_factory=dict)
    place: str = "out"
    signals: tuple[int, ...] = (signal.SIGKILL,)
    run_before: Callable[[Path], object] = lambda _base: None
    check: Callable[[Path], bool] = lambda _base: True
    weight: int = 1


@dataclass(slots=True)
class Tally:
    """What became of the tries of one scene."""

    name: str
    tries: int = 0
    killed: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def faults(self) -> int:
        """How many tries ended as none may."""
        return sum(self.counts[fault] for fault in FAULTS)


def campaign(kills: int, folder: Path, *, seed: int = 0) -> list[Tally]:
    """Kill the program so many times, in a folder on the file system in question.

    Half of the kills of a scene are at steps, spread evenly over all of them, and half at random moments; what a
    process left that was done before it was killed is looked at as well, and another one is killed in its place.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="kills-", dir=folder) as work:
        scenes = _scenes(Path(work))
        total = sum(scene.weight for scene in scenes)
        rng = random.Random(seed)  # noqa: S311 - of moments, not of secrets
        tallies = []
        for number, scene in enumerate(scenes):
            done = sum(s.weight for s in scenes[:number])
            share = kills * (done + scene.weight) // total - kills * done // total
            tallies.append(tried(scene, share, Path(work) / f"scene-{number}", rng))
    return tallies


def tried(scene: Scene, kills: int, base: Path, rng: random.Random) -> Tally:
    """Kill one scene's process so many times, in a folder of its own."""
    tally = Tally(scene.name)
    if not kills:
        return tally
    _prepare(scene, base)
    steps = int(_from_child(lambda: _count_steps(lambda: _act(scene, base), base)))
    _prepare(scene, base)
    began = time.monotonic()
    _ended(_forked(partial(_act, scene, base)))
    took, at_steps = time.monotonic() - began, (kills + 1) // 2
    while tally.killed < kills and tally.tries < MOST_TRIES * kills:
        _prepare(scene, base)
        number, said = tally.tries, base / "said"
        how = scene.signals[number % len(scene.signals)]
        if number < at_steps:
            hook = _kill_at(1 + number * steps // at_steps, base, how)
            process = _forked(partial(_act, scene, base, hook), said)
        else:
            process = _forked(partial(_act, scene, base), said)
            # Every other one near the end, where the files are moved.
            time.sleep(rng.uniform(0.8 * took * (number % 2), took))
            os.kill(process, how)
        code = _ended(process)
        tally.tries += 1
        tally.killed += code not in (0, 1)
        tally.counts.update(_judged(scene, base, code, said))
    shutil.rmtree(base)
    return tally


# --- what is left ---------------------------------------------------------------------------------------------------


def _judged(scene: Scene, base: Path, code: int, said: Path) -> set[str]:
    """Say what stands in the folder: at once, after ``recover``, and after another run."""
    from evalreport.publishing import recover

    place = base / scene.place
    at_once = _found(scene, place)
    whole = {"old": dict(scene.before), "new": dict(scene.after)}
    sides = {name for name, files in whole.items() if at_once.items() <= files.items()}
    found = set() if sides else {"mixed"}
    if sides:
        found |= {"partial"} if at_once not in whole.values() else {
            "new" if at_once == whole["new"] else "old"
        }  # fmt: skip
    if code in (130, 143) and not _true(said.read_text(), scene, at_once, base):
        found.add("untrue")
    recover(place)
    if _found(scene, place) not in whole.values():
        found.add("broken")
    if not _kept(scene, place) or not scene.check(base):
        found.add("lost")
    again = _ended(_forked(partial(_act, scene, base, again=True)))
    if again not in (0, 1) or _found(scene, place) != whole["new"] or _temporary_in(base):
        found.add("stuck")
    if not _kept(scene, place) or not scene.check(base):
        found.add("lost")
    return found


def _found(scene: Scene, place: Path) -> dict[str, bytes]:
    """Return the files of either run that stand in the folder, whatever is in them."""
    names = (scene.before.keys() | scene.after.keys()) - scene.others.keys()
    return {name: (place / name).read_bytes() for name in names if (place / name).is_file()}


def _kept(scene: Scene, place: Path) -> bool:
    return all(
        (place / name).is_file() and (place / name).read_bytes() == content
        for name, content in scene.others.items()
    )


def _temporary_in(base: Path) -> list[Path]:
    return [path for path in base.rglob("*") if path.name.startswith(".") and "evalreport-" in path.name]


def _true(said: str, scene: Scene, at_once: Files, base: Path) -> bool:
    """Whether the last line that an interrupted run said agrees with the folder."""
    last = said.splitlines()[-1] if said else ""
    if last == "interrupted; nothing was written":
        return at_once == dict(scene.before) and not _temporary_in(base)
    if last.startswith("interrupted; the report had been written"):
        return at_once == dict(scene.after)
    return last == "interrupted" and at_once == dict(scene.before)


# --- processes ------------------------------------------------------------------------------------------------------


def _act(scene: Scene, base: Path, first: Callable[[], None] = lambda: None, *, again: bool = False) -> int:
    place = base / scene.place
    if scene.place.endswith("/."):
        os.chdir(place)
        place = Path()
    first()
    act = scene.again if again and scene.again is not None else scene.act
    result = act(place)
    return result if isinstance(result, int) else 0


def _kill_at(step: int, base: Path, how: int) -> Callable[[], None]:
    """Give what makes this process send itself a signal before its step of that number."""

    def hook() -> None:
        left = [step]

        def count(event: str, arguments: tuple[Any, ...]) -> None:
            if _is_step(event, arguments, str(base)):
                left[0] -= 1
                if not left[0]:
                    os.kill(os.getpid(), how)

        sys.addaudithook(count)

    return hook


def _count_steps(action: Callable[[], object], base: Path) -> int:
    steps = [0]

    def count(event: str, arguments: tuple[Any, ...]) -> None:
        steps[0] += _is_step(event, arguments, str(base))

    sys.addaudithook(count)
    action()
    return steps[0]


def _is_step(event: str, arguments: tuple[Any, ...], base: str) -> bool:
    """Whether Python is about to touch the folder of the try; names in a folder that is held open come without it."""
    if event in ("os.remove", "os.rmdir", "ctypes.dlsym", "fcntl.flock"):
        return True
    if event != "open" and not event.startswith(("os.", "shutil.", "tempfile.")):
        return False
    paths = [os.fsdecode(a) for a in arguments if isinstance(a, str | bytes | os.PathLike)]
    return any(path.startswith(base) or not Path(path).is_absolute() for path in paths)


def _forked(action: Callable[[], object], said: Path | None = None) -> int:
    """Start a process that does the action, with its exit code as its own; what it says goes to a file."""
    process = os.fork()
    if process:
        return process
    code = 70
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null if said is None else os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")  # whatever took their places
        code = int(action() or 0)  # type: ignore[call-overload]
    except KeyboardInterrupt:
        code = 9
    except BaseException as error:  # noqa: BLE001 - a child must never come back into the harness
        sys.stderr.write(repr(error))
    finally:
        sys.stderr.flush()
        os._exit(code)


def _ended(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _from_child(make: Callable[[], Any]) -> Any:
    """Return what a process of its own makes: this one forks, so it starts no threads and opens no database."""
    reading, writing = os.pipe()

    def act() -> None:
        with os.fdopen(writing, "wb") as stream:
            pickle.dump(make(), stream)

    process = _forked(act)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        content = stream.read()
    code = _ended(process)
    if code:
        raise RuntimeError(f"a process of the harness ended with {code}")
    return pickle.loads(content)  # noqa: S301 - from our own process


# --- scenes ---------------------------------------------------------------------------------------------------------


def _prepare(scene: Scene, base: Path) -> None:
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir(parents=True)
    place = base / scene.place
    for name, content in {**scene.before, **scene.others}.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    scene.run_before(base)


def _scenes(work: Path) -> list[Scene]:
    models = [_models(work / f"models-{name}", seed) for seed, name in enumerate("ab")]
    for name in _from_child(lambda: _modules(work, models)):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    return [*_report_scenes(work, models), *_resample_scenes(), *_program_scenes(work, models)]


def _models(folder: Path, seed: int) -> Path:
    """Write predictions of two models on 60 examples."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 60)
    folder.mkdir(parents=True)
    for model, wrong in (("forest", 0.1), ("tree", 0.3)):
        said = np.where(rng.random(60) < wrong, 1 - truth, truth)
        rows = "".join(f"e{i:02},{t},{s}\n" for i, (t, s) in enumerate(zip(truth, said, strict=True)))
        (folder / f"{model}.csv").write_text("id,y_true,y_pred\n" + rows)
    return folder


def _modules(work: Path, models: Sequence[Path]) -> list[str]:
    """Make a run in this process and name the modules that it took: the harness loads them once for all tries."""
    _main("audit", models[0], "-o", work / "warm", "--history", f"sqlite:///{work / 'warm.db'}", *QUICK)
    return [name for name in sys.modules if name != "__main__" and not name.startswith("campaign")]


def _main(*words: object) -> int:
    from evalreport.cli import main

    return main([str(word) for word in words])


def _made(models: Path) -> tuple[Any, dict[str, bytes]]:
    """Return the results of a run, and the files that are made of them."""
    import evalreport as er
    from evalreport.config import OutputOptions
    from evalreport.report import writing
    from evalreport.results import to_json

    results = er.evaluate(models, metrics="accuracy", resamples=50)
    files, _ = writing._made(results, OutputOptions(formats=("html", "json", "md")), to_json(results))
    return results, files


def _report_scenes(work: Path, models: Sequence[Path]) -> list[Scene]:
    """The writing of a report, its files made before: all the time goes to the steps in question."""
    (_, old), (results, new) = (_from_child(partial(_made, folder)) for folder in models)

    def act(place: Path, *, beside: Files | None = None, files: Files = new) -> None:
        _render(results, place, files, beside or {})

    gates_old, gates_new = {**old, "gates.xml": b"<old/>"}, {"gates.xml": b"<new/>"}
    lean = {"results.json": new["results.json"]}
    linked = work / "linked"
    return [
        Scene("report", old, new, act, weight=4),
        Scene("report, the first one", {}, new, act),
        Scene("report beside files of the user's", old, new, act, others=OTHERS, weight=4),
        Scene("report into the current folder", old, new, act, place="out/.", weight=2),
        Scene("report through a link", old, new, act, run_before=lambda base: _link(base, linked)),
        Scene(
            "report with its gates",
            gates_old,
            {**new, **gates_new},
            lambda p: act(p, beside=gates_new),
            weight=2,
        ),
        Scene("report in fewer formats", old, lean, lambda place: act(place, files=lean)),
    ]


def _render(results: Any, place: Path, files: Files, beside: Files) -> None:
    from evalreport.report import writing

    writing._made = lambda *_arguments: (dict(files), {})
    writing.render(results, place, beside=beside)


def _link(base: Path, linked: Path) -> None:
    """Put the folder elsewhere and a link in its place."""
    shutil.rmtree(linked, ignore_errors=True)
    (base / "out").rename(linked)
    (base / "out").symlink_to(linked)


def _resample_scenes() -> list[Scene]:
    from evalreport.learning import resampling

    sides = [
        {
            "predictions.parquet": side * 50_000,
            "resample.json": side * 500,
            **({"failures.md": side} if side == b"A" else {}),
        }
        for side in (b"A", b"B")
    ]
    old, new = sides

    def act(place: Path) -> None:
        resampling._move_in({place / name: new.get(name) for name in old}, lambda: None)

    return [
        Scene("resample", old, new, act, weight=2),
        Scene(
            "resample beside files of the user's", old, new, act, others={"plan.toml": b"[scheme]"}, weight=2
        ),
    ]


def _program_scenes(work: Path, models: Sequence[Path]) -> list[Scene]:
    """The program itself, from reading the files to the exit code."""

    def run(place: Path, number: int = 1) -> int:
        return _main("run", models[number], "-o", place, *QUICK)

    def audit(place: Path, number: int = 1) -> int:
        url = f"sqlite:///{place.parent / 'audits.db'}"
        return _main("audit", models[number], "-o", place, "--history", url, *TIMES, *QUICK)

    def earlier(base: Path) -> None:
        shutil.rmtree(base)
        shutil.copytree(work / "audited", base)

    old, new = (_files_of(partial(run, work / f"run-{n}", n), work / f"run-{n}") for n in (0, 1))
    first, second = work / "audited", work / "audited-twice"
    first.mkdir()
    before = _files_of(lambda: audit(first / "out", 0), first / "out")
    shutil.copytree(first, second)
    after = _files_of(lambda: audit(second / "out"), second / "out")
    stops = (signal.SIGINT, signal.SIGTERM)
    # The next run's files are known: only their writing is of interest.
    results = _from_child(lambda: _made(models[1])[0])
    again = partial(_render, results, files=new, beside={})
    beside = "run, interrupted beside files of the user's"
    return [
        Scene("run", old, new, run, again),
        Scene("run beside files of the user's", old, new, run, again, others=OTHERS),
        Scene("run, interrupted", old, new, run, again, signals=stops),
        Scene(beside, old, new, run, again, others=OTHERS, signals=stops),
        Scene("audit", before, after, audit, run_before=earlier, check=_history_is_whole),
    ]


def _files_of(action: Callable[[], int], place: Path) -> dict[str, bytes]:
    if _ended(_forked(action)):
        raise RuntimeError(f"the run into {place} failed")
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def _history_is_whole(base: Path) -> bool:
    """Whether the history holds run 1, or runs 1 and 2, each with its results and its predictions."""

    def look() -> bool:
        from evalreport.audit.connection import open_history, reading
        from evalreport.audit.store import predictions_of, results_of, runs

        history = open_history(f"sqlite:///{base / 'audits.db'}")
        ids = [run.id for run in runs(history)]
        with reading(history) as connection:
            sound = connection.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"
        return (
            sound
            and ids in ([1], [1, 2])
            and all(results_of(history, i) and predictions_of(history, i) for i in ids)
        )

    return bool(_from_child(look))


# --- the command ----------------------------------------------------------------------------------------------------


def main() -> int:
    """Run the campaign on each file system and print what became of the tries; 1 where there was a fault."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tries", type=int, default=1000, help="kills on each file system")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, action="append", help="default: .cache here, and /dev/shm")
    given = parser.parse_args()
    faults = 0
    for folder in given.folder or [Path(".cache"), Path("/dev/shm")]:  # noqa: S108 - tmpfs is what is wanted
        began = time.monotonic()
        tallies = campaign(given.tries, folder.resolve(), seed=given.seed)
        print(table(tallies, file_system(folder)))
        print(f"{time.monotonic() - began:.0f} s\n")
        faults += sum(tally.faults for tally in tallies)
    return 1 if faults else 0


def table(tallies: Sequence[Tally], where: str) -> str:
    """Return the tries of every scene as a table in Markdown."""
    rows = [f"| {where} | tries | killed | {' | '.join(OUTCOMES)} |", f"|:--|{'--:|' * (2 + len(OUTCOMES))}"]
    for tally in [*tallies, _total(tallies)]:
        figures = [tally.tries, tally.killed, *(tally.counts[name] for name in OUTCOMES)]
        rows.append(f"| {tally.name} | {' | '.join(map(str, figures))} |")
    return "\n".join(rows)


def _total(tallies: Sequence[Tally]) -> Tally:
    total = Tally("all")
    for tally in tallies:
        total.tries += tally.tries
        total.killed += tally.killed
        total.counts += tally.counts
    return total


def file_system(folder: Path) -> str:
    """Name the file system that a folder lies on, as the kernel does."""
    best, kind = "", "unknown"
    for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        _, mount, found, *_ = line.split()
        if folder.resolve().is_relative_to(mount) and len(mount) >= len(best):
            best, kind = mount, found
    return kind


if __name__ == "__main__":
    sys.exit(main())
