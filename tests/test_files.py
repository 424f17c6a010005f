"""Files that belong together: exchanged or moved in as a whole, whoever stops it, whatever stands there."""

from __future__ import annotations

import errno
import os
import signal
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evalreport import files as alone
from evalreport import files as whole
from evalreport import platform
from evalreport.errors import OutputError, UsageError
from evalreport.files import MOVE, Kind, change_whole, publish, recover, toml_of, write_whole, writing_whole
from tests.samples.cases import every

NAMES = ("page.html", "numbers.json", "figures/a.svg", "figures/b.svg")
KIND = Kind("test", {*NAMES, "figures/"}.__contains__)
OLD = {name: b"old " + name.encode() for name in NAMES}
NEW = {name: b"new " + name.encode() for name in NAMES[:3]}


def contents(folder: Path) -> dict[str, bytes]:
    """Read every file below a folder, hidden ones as well."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def given(folder: Path, files: dict[str, bytes]) -> Path:
    """Write files one by one."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The folder of an earlier run."""
    return given(tmp_path / "out", OLD)


@pytest.fixture
def exchanges(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Note every exchange of folders."""
    found: list[Path] = []
    change = platform.exchange

    def noted(a: Path, b: Path) -> None:
        change(a, b)
        found.append(b)

    monkeypatch.setattr(platform, "exchange", noted)
    return found


def refused(*_words: object) -> None:
    """What a file system without the exchange answers."""
    raise OSError(errno.EINVAL, "Invalid argument")


needs_exchange = pytest.mark.skipif(
    not platform.exchanges_folders(), reason="this system exchanges no folders"
)


@needs_exchange
def test_our_own_files_are_exchanged_in_one_step(out: Path, exchanges: list[Path]) -> None:
    """What this run does not make is gone, nothing temporary is left, the mode of the folder stays."""
    out.chmod(0o750)
    publish(out, NEW, kind=KIND)
    assert exchanges == [out]
    assert contents(out.parent) == {f"out/{name}": content for name, content in NEW.items()}
    assert out.stat().st_mode & 0o777 == 0o750


def test_a_folder_that_is_not_there_is_made_with_its_parents(tmp_path: Path) -> None:
    """The first run needs no exchange."""
    publish(tmp_path / "a" / "b", NEW, kind=KIND)
    assert contents(tmp_path / "a" / "b") == NEW


def test_files_of_others_stay_in_their_folder(out: Path, exchanges: list[Path]) -> None:
    """Beside others' files ours are moved in: the folder itself, which others may hold open, stays the same one."""
    mine = {"notes.txt": b"mine", "figures/mine.svg": b"mine", "deep/er/x": b"mine", ".hidden": b"mine"}
    given(out, mine)
    before = out.stat().st_ino
    publish(out, NEW, kind=KIND)
    assert contents(out) == {**NEW, **mine}
    assert (exchanges, out.stat().st_ino) == ([], before)


@pytest.mark.parametrize("how", every(2, ["here", "below", "no exchange", "not permitted"]))
def test_where_the_folder_cannot_leave_the_files_are_moved(
    out: Path, exchanges: list[Path], monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The current folder or one above it, a system without the exchange, a parent that this user may not write to."""
    if how in ("here", "below"):
        place = out if how == "here" else out / "figures"
        monkeypatch.chdir(place)
    elif how == "no exchange":
        monkeypatch.setattr(platform, "exchange", refused)
    else:
        access = os.access
        monkeypatch.setattr("os.access", lambda path, mode: Path(path) != out.parent and access(path, mode))
        monkeypatch.setattr(whole, "hidden", lambda path, _purpose: Path("/proc/no/such") / path.name)
    before = out.stat().st_ino
    publish(Path() if how == "here" else out, NEW, kind=KIND)
    assert contents(out) == NEW
    assert (exchanges, out.stat().st_ino) == ([], before)
    assert [path.name for path in out.parent.iterdir()] == ["out"]


@needs_exchange
def test_a_link_to_the_folder_stays_a_link(out: Path, exchanges: list[Path]) -> None:
    """What it leads to is exchanged."""
    link = out.parent / "link"
    link.symlink_to("out")
    publish(link, NEW, kind=KIND)
    assert link.is_symlink()
    assert contents(link) == NEW
    assert exchanges == [out]


@pytest.mark.parametrize("other", [False, True])
def test_what_is_about_the_same_stays(out: Path, other: bool) -> None:
    """Files that the caller lets stay are kept byte for byte, in either way."""
    if other:
        given(out, {"notes.txt": b"mine"})
    publish(out, NEW, kind=KIND, stays=lambda folder: (folder / "page.html").read_bytes() == b"old page.html")
    assert contents(out) == {**OLD, **NEW, **({"notes.txt": b"mine"} if other else {})}


@pytest.mark.parametrize(
    "way, said", [("numbers.json/", "numbers.json: is a folder"), ("figures", "figures: is not a folder")]
)
def test_what_stands_in_the_way_is_said_and_nothing_is_changed(tmp_path: Path, way: str, said: str) -> None:
    """A folder where a file must go, and a file where a folder must."""
    out = given(tmp_path / "out", {"page.html": b"old"})
    (out / way).mkdir() if way.endswith("/") else (out / way).write_bytes(b"mine")
    with pytest.raises(UsageError, match=said):
        publish(out, NEW, kind=KIND)
    assert contents(tmp_path) == {
        "out/page.html": b"old",
        **({} if way[-1] == "/" else {"out/figures": b"mine"}),
    }


def test_a_link_in_the_place_of_the_sub_folder_is_not_followed(tmp_path: Path, out: Path) -> None:
    """Nothing is written where it leads to."""
    for path in (out / "figures").iterdir():
        path.unlink()
    (out / "figures").rmdir()
    (tmp_path / "elsewhere").mkdir()
    (out / "figures").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="figures: is not a folder"):
        publish(out, NEW, kind=KIND)
    assert contents(tmp_path / "elsewhere") == {}


@pytest.mark.parametrize("other", [False, True])
def test_a_full_disk_leaves_everything_as_it_was(
    out: Path, monkeypatch: pytest.MonkeyPatch, other: bool
) -> None:
    """No room while the new files are written; in either way."""
    if other:
        given(out, {"notes.txt": b"mine"})
    before = contents(out.parent)

    def full(_stream: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        publish(out, NEW, kind=KIND)
    assert contents(out.parent) == before
    with pytest.raises(OSError, match="No space left"):
        publish(out.parent / "first", NEW, kind=KIND)
    assert not (out.parent / "first").exists()


def test_a_move_that_fails_on_the_way_is_undone(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that were put aside are back, and the error is the first one."""
    given(out, {"notes.txt": b"mine"})
    before = contents(out)
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.name == "page.html":
            raise PermissionError(errno.EPERM, "Operation not permitted")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(PermissionError):
        publish(out, NEW, kind=KIND)
    assert contents(out) == before


def test_a_file_that_comes_at_the_last_moment_is_not_lost(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program writes into the folder between the last look and the exchange: its file is kept."""
    change = platform.exchange

    def late(a: Path, b: Path) -> None:
        given(b, {"late.txt": b"mine", "figures/late.svg": b"mine"})
        change(a, b)

    monkeypatch.setattr(platform, "exchange", late)
    publish(out, NEW, kind=KIND)
    assert contents(out.parent) == {
        f"out/{name}": content
        for name, content in {**NEW, "late.txt": b"mine", "figures/late.svg": b"mine"}.items()
    }


# --- what a killed process leaves -----------------------------------------------------------------------------------


def half_moved(folder: Path, *, forward: bool) -> None:
    """Leave a folder as a process does that is killed while it puts files aside, or while it moves them in."""
    given(folder / MOVE / ("in" if forward else "new"), {k: v for k, v in NEW.items() if k != "page.html"})
    given(folder / MOVE / "old", {"numbers.json": OLD["numbers.json"]})
    (folder / "numbers.json").unlink()
    if forward:
        for name in OLD:
            (folder / name).unlink(missing_ok=True)
        given(folder, {"page.html": NEW["page.html"]})


@pytest.mark.parametrize("forward", [False, True])
def test_the_next_one_ends_a_move(out: Path, forward: bool) -> None:
    """Back while old files stand there, forward afterwards; what is not ours is not touched."""
    given(out, {"notes.txt": b"mine"})
    half_moved(out, forward=forward)
    recover(out)
    assert contents(out.parent) == {
        f"out/{name}": content
        for name, content in {**(NEW if forward else OLD), "notes.txt": b"mine"}.items()
    }


@pytest.mark.parametrize("forward", [False, True])
def test_the_next_run_starts_from_either(out: Path, forward: bool) -> None:
    """Whatever was left half moved, the next run's files are whole."""
    half_moved(out, forward=forward)
    publish(out, OLD, kind=KIND)
    assert contents(out) == OLD


def test_a_move_that_cannot_be_ended_is_an_error(out: Path) -> None:
    """A folder that has come to stand in the way is named, and what is to be moved stays where it is."""
    half_moved(out, forward=True)
    (out / "numbers.json").mkdir()
    with pytest.raises(OutputError, match="numbers.json: is a folder"):
        recover(out)
    assert (out / MOVE / "in" / "numbers.json").read_bytes() == NEW["numbers.json"]


def test_a_hostile_folder_cannot_lead_a_move_out_of_it(tmp_path: Path) -> None:
    """What calls itself a move, in a folder that was handed in, touches nothing beyond that folder."""
    home = given(tmp_path / "home" / "deep", {"kept": b"mine"}).parent
    out = given(tmp_path / "out", {f"{MOVE}/in/a/deep/kept": b"evil", f"{MOVE}/in/b/kept": b"evil"})
    (out / "a").symlink_to(home)
    (out / MOVE / "in" / "link").symlink_to(home)
    recover(out)
    assert contents(home) == {"deep/kept": b"mine"}
    assert (out / "b" / "kept").read_bytes() == b"evil"
    given(out / MOVE / "in" / "a", {"deep": b"evil"})
    with pytest.raises(OutputError, match="a: is not a folder"):
        recover(out)
    assert contents(home) == {"deep/kept": b"mine"}


def test_what_dead_runs_left_is_swept_and_nothing_else(out: Path) -> None:
    """Half a new folder beside, a whole old one, half a part inside, a lock; not a folder of another name."""
    given(out.parent / ".out.evalreport-test", {**OLD, "late.txt": b"mine"})
    given(out / ".evalreport-part" / "new", NEW)
    given(
        out.parent, {".out.evalreport-lock": b"", ".out.evalreport-other/x": b"mine", ".out-abc/x": b"mine"}
    )
    publish(out, NEW, kind=KIND)
    assert contents(out.parent) == {
        **{f"out/{name}": content for name, content in NEW.items()},
        **{"out/late.txt": b"mine", ".out.evalreport-other/x": b"mine", ".out-abc/x": b"mine"},
    }


SECONDS_OF_A_CHILD = 120
"""A process that a failed test leaves behind ends by itself."""


def forked(action: Callable[[], object]) -> int:
    """Start a process that does the action; it ends with 0, or with 1 where the action raises."""
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        signal.alarm(SECONDS_OF_A_CHILD)
        action()
        code = 0
    finally:
        os._exit(code)


def ended(process: int) -> int:
    """Wait for a process; return its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def test_a_living_process_is_waited_for_and_a_dead_one_is_not(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another process holds the folder nothing is written; killed, it holds nothing."""

    def hold() -> None:
        with alone.alone(out):
            (out.parent / "ready").touch()
            time.sleep(60)

    process = forked(hold)
    while not (out.parent / "ready").exists():
        time.sleep(0.01)
    monkeypatch.setattr(alone, "PATIENCE", 0.2)
    with pytest.raises(OutputError, match="another evalreport is writing there"):
        publish(out, NEW, kind=KIND)
    assert contents(out) == OLD
    os.kill(process, signal.SIGKILL)
    assert ended(process) == -signal.SIGKILL
    publish(out, NEW, kind=KIND)
    assert contents(out) == NEW


@pytest.mark.slow
@pytest.mark.parametrize("other", [False, True])
def test_many_at_once_leave_one_run_s_files(tmp_path: Path, other: bool) -> None:
    """Six processes write five times each; whoever was last, all files are of one, and no process failed."""
    out = tmp_path / "out"
    if other:
        given(out, {"notes.txt": b"mine"})

    def write(number: int) -> None:
        for _ in range(5):
            publish(out, dict.fromkeys(NAMES, b"%d" % number * 5000), kind=KIND)

    processes = [forked(lambda n=number: write(n)) for number in range(6)]
    assert [ended(process) for process in processes] == [0] * 6
    assert len({content for name, content in contents(out).items() if name != "notes.txt"}) == 1
    assert contents(tmp_path).keys() == {f"out/{n}" for n in NAMES} | ({"out/notes.txt"} if other else set())


# --- interrupts -----------------------------------------------------------------------------------------------------


@pytest.fixture
def terminated() -> Iterator[None]:
    """Let SIGTERM interrupt, as the program does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("other", [pytest.param(False, marks=needs_exchange), True])
def test_an_interrupt_during_the_move_waits_for_its_end(
    out: Path, monkeypatch: pytest.MonkeyPatch, terminated: None, number: int, other: bool
) -> None:
    """The new files are whole and the caller knows it before the interrupt is raised."""
    if other:
        given(out, {"notes.txt": b"mine"})
    rename, told = Path.rename, []

    def interrupting(self: Path, target: Path) -> Path:
        os.kill(os.getpid(), number)
        return rename(self, target)

    def change(a: Path, b: Path, change: Callable[[Path, Path], None] = platform.exchange) -> None:
        os.kill(os.getpid(), number)
        change(a, b)

    monkeypatch.setattr(Path, "rename", interrupting)
    monkeypatch.setattr(platform, "exchange", change)
    with pytest.raises(KeyboardInterrupt):
        publish(out, NEW, kind=KIND, done=lambda: told.append(contents(out)))
    assert contents(out) == {**NEW, **({"notes.txt": b"mine"} if other else {})}
    assert len(told) == 1
    assert [path.name for path in out.parent.iterdir()] == ["out"]


@pytest.mark.parametrize("other", [False, True])
def test_an_interrupt_before_the_move_leaves_everything_as_it_was(
    out: Path, monkeypatch: pytest.MonkeyPatch, other: bool
) -> None:
    """While the new files are written nothing is held back, and nothing temporary stays."""
    if other:
        given(out, {"notes.txt": b"mine"})
    before = contents(out.parent)
    monkeypatch.setattr("os.fsync", lambda _stream: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        publish(out, NEW, kind=KIND, done=lambda: pytest.fail("not done"))
    assert contents(out.parent) == before


# --- one file -------------------------------------------------------------------------------------------------------


def test_one_file_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders are made on the way; a failure leaves the old file and nothing beside it; long names fit."""
    path = tmp_path / "a" / ("x" * 250)
    write_whole(path, b"old")
    path.chmod(0o600)

    def half(content: bytes) -> None:
        with writing_whole(path) as stream:
            stream.write(content[:1])
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        half(b"new")
    assert contents(tmp_path) == {f"a/{path.name}": b"old"}
    write_whole(path, b"new")
    assert contents(tmp_path) == {f"a/{path.name}": b"new"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_is_changed_as_a_whole_by_its_content(tmp_path: Path) -> None:
    """The new content follows from the old one; None leaves the file alone, and nothing stays beside it."""
    path = tmp_path / "folder" / "count"
    change_whole(path, lambda found: b"1" if found is None else b"never")
    change_whole(path, lambda found: found and found + b"1")
    change_whole(path, lambda _found: None)
    assert contents(tmp_path) == {"folder/count": b"11"}


def test_a_change_that_fails_leaves_the_file(tmp_path: Path) -> None:
    """An error in between leaves the old content and no lock."""
    path = given(tmp_path, {"count": b"1"}) / "count"

    def fails(_found: bytes | None) -> bytes:
        raise OutputError("no")

    with pytest.raises(OutputError):
        change_whole(path, fails)
    assert contents(tmp_path) == {"count": b"1"}


def test_a_link_to_one_file_stays_a_link(tmp_path: Path) -> None:
    """The file that it leads to is written."""
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.parametrize("got", [False, True])
def test_an_interrupt_while_the_lock_is_taken_leaves_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, got: bool
) -> None:
    """Whether it came before or after the lock was got: a message says that nothing was written."""
    fcntl = pytest.importorskip("fcntl")
    flock, calls = fcntl.flock, []

    def interrupted(descriptor: int, how: int) -> None:
        calls.append(how)
        if len(calls) > 1 or got:
            flock(descriptor, how)
        if len(calls) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(fcntl, "flock", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "file", b"new")
    assert contents(tmp_path) == {}


def test_an_interrupt_while_another_has_the_lock_leaves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not removed from under whoever works there."""
    pytest.importorskip("fcntl")

    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    with alone.alone(tmp_path / "file"):
        monkeypatch.setattr("time.sleep", interrupted)
        before = contents(tmp_path)
        with pytest.raises(KeyboardInterrupt):
            write_whole(tmp_path / "file", b"new")
        assert contents(tmp_path) == before != {}


@pytest.mark.parametrize(
    "content",
    ["[evalreport]\n" + ".".join(["a"] * 50_000) + " = 1\n", f"[{' . '.join(['a'] * 50_000)}]\n",
     "x = {" + ".".join(['"a b"'] * 50_000) + " = 1}\n"],
    ids=["a key", "a table", "a key within"],
)  # fmt: skip
def test_a_key_of_many_parts_is_refused_at_once(content: str, tmp_path: Path) -> None:
    """The parser's time grows with the square of their number: minutes for these."""
    (tmp_path / "c.toml").write_text(content)
    before = time.monotonic()
    with pytest.raises(UsageError, match="nested too deeply"):
        toml_of(tmp_path / "c.toml")
    assert time.monotonic() - before < 5


def test_long_texts_and_numbers_are_no_keys_of_many_parts(tmp_path: Path) -> None:
    """What has many dots but is no key."""
    (tmp_path / "c.toml").write_text(
        f'x = [{", ".join(["0.5"] * 500)}]\ny = "{"a. b " * 500}"\nz = "{"." * 500}"\n'
    )
    assert len(toml_of(tmp_path / "c.toml")) == 3
