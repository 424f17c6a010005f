"""Disks that are full, folders that may not be written to, and folders that vanish while a command is at work.

silent
    the command ended with 0, and its files are not there. This must never be.
failed
    it ended neither with 0 nor with an exit code that says what is wrong (2, 4), or without a word. Never.
mixed, lost, broken, stuck
    as for kills (``research.campaign.kills``). Never.
gone
    the folder that vanished stays away: the command had written into it before.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from research.campaign.kills import at_step, steps_of
from research.campaign.processes import ended, forked
from research.campaign.records import MEMORY, Part, Row, faults_of, file_system, measured
from research.campaign.scenes import Scene, judged, perform, prepare, scenes

FAULTS = ("mixed", "lost", "broken", "stuck", "silent", "failed")
TRIES = 250
ROOM = 2 * 1024 * 1024
"""Bytes of the small disk."""
NOBODY = 65534


def part(*, seed: int = 0, tries: int = TRIES, folder: Path = MEMORY) -> Part:
    """Disturb `run`, `audit` and `resample` in each way equally often."""
    made = Part("disks", seed, tries, versions={"file system": file_system(folder)})
    rng = random.Random(seed)  # noqa: S311 - of sizes, not of secrets
    with measured(made), tempfile.TemporaryDirectory(prefix="disks-", dir=folder) as work:
        Path(work).chmod(0o755)
        usual = [s for s in scenes(Path(work)) if s.name.startswith(("run", "audit", "resample"))]
        usual = [scene for scene in usual if "interrupted" not in scene.name]
        # What the user keeps in a folder goes with it where the folder itself is taken away.
        alone = [scene for scene in usual if not scene.others]
        with _ways(Path(work)) as ways:
            for number, (what, way) in enumerate(ways.items()):
                share = tries * (number + 1) // len(ways) - tries * number // len(ways)
                made.rows.append(row := Row(what))
                chosen = alone if way is _vanished else usual
                for place in range(share):
                    scene = chosen[place % len(chosen)]
                    row.tries += 1
                    row.counts.update(way(scene, Path(work) / "try", rng))
    made.findings += faults_of(made, FAULTS)
    return made


Way = Callable[[Scene, Path, random.Random], set[str]]


@contextmanager
def _ways(work: Path) -> Iterator[dict[str, Way]]:
    """Yield what can be done here: disks are mounted, and users changed, by root alone."""
    ways: dict[str, Way] = {"no file may grow further": _limited, "the folder vanishes": _vanished}
    if os.geteuid() == 0:
        ways["the folder is another user's"] = _forbidden
        disk = work / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM},mode=755", "tmpfs", str(disk)]
        if subprocess.run(mount, capture_output=True, check=False).returncode == 0:
            try:
                ways["the disk is full"] = partial(_full, disk)
                ways["the disk is read-only"] = partial(_read_only, disk)
                yield ways
            finally:
                subprocess.run(["umount", "--lazy", str(disk)], check=False)
            return
    yield ways


def _limited(scene: Scene, base: Path, rng: random.Random) -> set[str]:
    """A limit on the size of every file, such as a quota or an old file system has one."""
    import resource  # Windows has none

    size = int(2 ** rng.uniform(12, 20))  # less would not even hold what the command says

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return _disturbed(scene, base, limit)


def _full(disk: Path, scene: Scene, base: Path, rng: random.Random) -> set[str]:
    """Room for a part of what the command writes: a file of ours takes the rest."""
    base = disk / base.name
    ballast = disk / "ballast"
    with contextlib.suppress(FileNotFoundError):
        ballast.unlink()
    prepare(scene, base)
    free = shutil.disk_usage(disk).free
    ballast.write_bytes(bytes(max(free - int(2 ** rng.uniform(12, 19)), 0) // 4096 * 4096))
    return _disturbed(scene, base, relieve=ballast.unlink, ready=True)


def _read_only(disk: Path, scene: Scene, base: Path, rng: random.Random) -> set[str]:
    """A disk that turns read-only before the command, or at one of its steps; not while it has a file open to write."""
    base = disk / base.name
    step = rng.randrange(steps_of(scene, base)) if rng.random() < 0.5 else 0
    prepare(scene, base)

    def remount(how: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], capture_output=True, check=False)

    turn = partial(remount, "ro")
    first = turn if step == 0 else at_step(step, base, turn)
    return _disturbed(scene, base, first, relieve=partial(remount, "rw"), ready=True)


def _forbidden(scene: Scene, base: Path, rng: random.Random) -> set[str]:
    """A user without rights, in root's folder or beside it."""
    prepare(scene, base)
    inside = base / scene.place
    for path in (inside, base, *(base.glob("*.db*"))):
        if rng.random() < 0.5:
            shutil.chown(path, NOBODY)

    def become() -> None:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    def relieve() -> None:
        for path in (base, *base.rglob("*")):
            shutil.chown(path, 0)

    return _disturbed(scene, base, become, relieve=relieve, ready=True)


def _vanished(scene: Scene, base: Path, rng: random.Random) -> set[str]:
    """Somebody removes the folder before one of the command's steps."""
    place = base / scene.place
    step = 1 + rng.randrange(steps_of(scene, base))
    remove = at_step(step, base, lambda: shutil.rmtree(place, ignore_errors=True))
    return _disturbed(scene, base, remove, gone=True)


def _disturbed(
    scene: Scene,
    base: Path,
    first: Callable[[], None] = lambda: None,
    *,
    relieve: Callable[[], object] = lambda: None,
    ready: bool = False,
    gone: bool = False,
) -> set[str]:
    """Run a scene's command in trouble; say how it ended, and what it left."""
    if not ready:
        prepare(scene, base)
    # What it says goes where there is room.
    with tempfile.NamedTemporaryFile(dir=MEMORY) as said:
        code = ended(forked(partial(perform, scene, base, first), said=Path(said.name)))
        words = Path(said.name).read_text(encoding="utf-8", errors="replace")
    found = judged(scene, base, relieve=relieve, gone=gone)
    if code == 0 and not {"new", "gone"} & found:
        found.add("silent")
    if code not in (0, 2, 4) or (code and not words.strip()) or "Traceback" in words:
        found.add("failed")
    return {f"exit {code}", *found}
