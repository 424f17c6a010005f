"""Kill the program at every step and at random moments: `python -m research.campaign --part kills-disk`.

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
failed
    the process ended by itself with an error. Never.
partial
    some files of one run, and none of the other, until the next command: only where the files were moved one by one,
    because others' stood beside them.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from research.campaign.processes import NOWHERE, ended, forked, from_child
from research.campaign.records import CACHE, MEMORY, Part, Row, faults_of, file_system, measured
from research.campaign.scenes import Scene, found_in, is_true, judged, perform, prepare, scenes

FAULTS = ("mixed", "lost", "broken", "stuck", "untrue", "failed")
MOST_TRIES = 20
"""For each kill: a process may be done before it is killed."""
KILLS = 1000


def on_disk(*, seed: int = 0, tries: int = KILLS) -> Part:
    """Kill on the file system of the checkout."""
    return campaign("kills-disk", tries, CACHE, seed=seed)


def in_memory(*, seed: int = 0, tries: int = KILLS) -> Part:
    """Kill on a tmpfs."""
    return campaign("kills-memory", tries, MEMORY, seed=seed)


def campaign(name: str, kills: int, folder: Path, *, seed: int = 0) -> Part:
    """Kill the program so many times, in a folder on the file system in question.

    Half of the kills of a scene are at steps, spread evenly over all of them, and half at random moments; what a
    process left that was done before it was killed is looked at as well, and another one is killed in its place.
    """
    folder.mkdir(parents=True, exist_ok=True)
    part = Part(name, seed, kills, versions={"file system": file_system(folder)})
    rng = random.Random(seed)  # noqa: S311 - of moments, not of secrets
    work_in = tempfile.TemporaryDirectory(prefix="kills-", dir=folder)
    with measured(part), work_in as work, contextlib.suppress(KeyboardInterrupt):
        made = scenes(Path(work))
        total, done = sum(scene.weight for scene in made), 0
        for number, scene in enumerate(made):
            share = kills * (done + scene.weight) // total - kills * done // total
            done += scene.weight
            part.rows.append(row := Row(scene.name))
            tried(scene, share, Path(work) / f"scene-{number}", rng, row)
            print(f"{name}: {scene.name}: {dict(row.counts)}", file=sys.stderr, flush=True)
    part.findings += faults_of(part, FAULTS)
    return part


def tried(scene: Scene, kills: int, base: Path, rng: random.Random, row: Row) -> None:
    """Kill one scene's process so many times, in a folder of its own, and count in the row what is left."""
    if not kills:
        return
    steps = steps_of(scene, base)
    prepare(scene, base)
    began = time.monotonic()
    ended(forked(partial(perform, scene, base), said=NOWHERE))
    took, at_steps = time.monotonic() - began, (kills + 1) // 2
    while row.counts["killed"] < kills and row.tries < MOST_TRIES * kills:
        prepare(scene, base)
        number, said = row.tries, base / "said"
        how = scene.signals[number % len(scene.signals)]
        if number < at_steps:
            hook = _kill_at(1 + number * steps // at_steps, base, how)
            process = forked(partial(perform, scene, base, hook), said=said)
        else:
            process = forked(partial(perform, scene, base), said=said)
            # Every other one near the end, where the files are moved.
            time.sleep(rng.uniform(0.8 * took * (number % 2), took))
            os.kill(process, how)
        code = ended(process)
        row.tries += 1
        if code in (0, 1) and number >= at_steps:
            took *= 0.95  # it was done before: this machine is quicker now than when it was measured
        elif number >= at_steps:
            took *= 1.03
        row.counts["killed"] += code not in (0, 1)
        row.counts.update(_judged(scene, base, code, said))
    shutil.rmtree(base)


def _judged(scene: Scene, base: Path, code: int, said: Path) -> set[str]:
    found = set()
    if code in (130, 143) and not is_true(
        said.read_text(encoding="utf-8"), scene, found_in(scene, base / scene.place), base
    ):
        found.add("untrue")
    elif code not in (0, 1, 9, 130, 143) and code >= 0:
        found.add("failed")
    return found | judged(scene, base)


def _kill_at(step: int, base: Path, how: int) -> Callable[[], None]:
    """Give what makes this process send itself a signal before its step of that number."""
    return at_step(step, base, lambda: os.kill(os.getpid(), how))


def at_step(step: int, base: Path, act: Callable[[], object]) -> Callable[[], None]:
    """Give what makes this process act before its step of that number."""

    def hook() -> None:
        left = [step]

        def count(event: str, arguments: tuple[Any, ...]) -> None:
            if left[0] > 0 and _is_step(event, arguments, str(base)):
                left[0] -= 1
                if not left[0]:
                    act()

        sys.addaudithook(count)

    return hook


def steps_of(scene: Scene, base: Path) -> int:
    """Count the steps of a scene's process."""
    prepare(scene, base)
    return int(from_child(lambda: _count_steps(lambda: perform(scene, base), base)))


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
