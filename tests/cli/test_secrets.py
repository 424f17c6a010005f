"""No password and no token is ever shown: each command is fed with some, and what it says and writes is searched."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from evalreport.cli import EXIT_DEFECT, LazyGroup, log_as, main, say, tell, writing
from evalreport.errors import HistoryError, forget, redacted, remember, remember_address
from evalreport.reviews import comment as reviews
from tests.samples.review_host import Host, served
from tests.samples.secrets import LATER, SECRET, holds_none

ODD = "open/ses@me:Hunter2-geheim"

URLS = (
    f"postgresql://me:{SECRET}@127.0.0.1:1/db",
    f"postgresql://127.0.0.1:1/db?user=me&password={SECRET}",
    f"postgresql://127.0.0.1:1/db?sslpassword={SECRET}&connect_timeout=1",
    f"postgresql://me:{ODD}@127.0.0.1:1/db",
    f"postgresql://me:{SECRET}@127.0.0.1:port/db",
    f"postgresql://me:{SECRET}@/db?port=five",
    f"postgresql//me:{SECRET}@127.0.0.1/db",
    f"postgresql:/me:{SECRET}@127.0.0.1/db",
    f"mysql://me:{SECRET}@127.0.0.1/db",
    f"sqlite://me:{SECRET}@host/x.db",
    f"sqlite:///x.db?password={SECRET}",
)

COMMANDS = (
    ["audit", "models", "--history", "URL"],
    ["audit", "models", "--history=URL", "-v", "--log-format", "json"],
    ["audit", "models", "--history", "sqlite:///ok.db", "URL"],
    *(["history", *words, "--history", "URL"] for words in (
        ["list"], ["show", "1"], ["diff", "1", "2"], ["accept", "1"], ["export"], ["prune", "--keep", "1"],
        ["site", "site"],
    )),
    ["history", "list", "URL"],
    ["verify", "models", "--history", "URL"],
    ["verify", "URL"],
    ["run", "URL"],
    ["run", "models", "-v", "--truth", "URL"],
    ["run", "models", "--config", "URL"],
    ["run", "models", "--slice", "URL"],
    ["run", "models", "--gate", "URL"],
    ["check", "URL"],
    ["compare-runs", "URL", "URL"],
    ["resample", "URL"],
    ["import", "mlflow", "URL", "-o", "out.csv"],
    ["import", "lm-eval", "URL", "-o", "URL"],
    ["comment", "URL"],
    ["templates", "copy", "URL", "URL"],
    ["init", "URL"],
    ["list", "URL"],
    ["URL"],
)  # fmt: skip


@pytest.fixture(autouse=True)
def _nothing_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder with predictions, and no secret left from another test."""
    monkeypatch.chdir(tmp_path)
    forget()
    (tmp_path / "models").mkdir()
    rows = "".join(f"e{i},{i % 2},{i % 3 % 2}\n" for i in range(30))
    (tmp_path / "models" / "forest.csv").write_text(f"id,y_true,y_pred\n{rows}")
    yield
    forget()


def everything_said(capsys: pytest.CaptureFixture[str]) -> str:
    """Return both streams and the content of every file that was written."""
    captured = capsys.readouterr()
    files = [path for path in Path().rglob("*") if path.is_file()]
    written = b"".join(path.read_bytes() for path in files).decode("utf-8", "replace")
    return captured.out + captured.err + written


@pytest.mark.parametrize(
    "words, url",
    [
        *((words, url) for words in COMMANDS for url in (URLS[0], URLS[3])),
        *((words, url) for words in (COMMANDS[0], COMMANDS[3]) for url in URLS),
    ],
)
def test_no_command_repeats_the_password_of_an_address(
    words: list[str], url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever an address stands on the command line, right, misspelt or in the wrong place."""
    monkeypatch.setenv("GITHUB_REPOSITORY", "a/b")
    assert main([word.replace("URL", url) for word in words]) in (0, 2, 4)
    holds_none(everything_said(capsys))


@pytest.mark.parametrize("place", ["-", "changes.txt"])
def test_a_text_that_a_command_writes_holds_no_known_secret(
    place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What compare-runs and the export of a history write comes from records of other runs; ``-o -`` as well."""
    remember_address(URLS[0])
    with writing(Path(place)) as write:
        write(f"run 1 read {SECRET}\n")
    said = everything_said(capsys)
    assert "run 1 read ***" in said
    holds_none(said)


@pytest.mark.parametrize("words", [[], ["--verbose"]])
def test_a_defect_shows_no_secret(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 70: neither the message nor the traceback, whose chain quotes the address in three errors."""

    @click.command("run", context_settings={"ignore_unknown_options": True})
    @click.argument("words", nargs=-1)
    @click.pass_context
    def broken(context: click.Context, words: tuple[str, ...]) -> int:
        context.obj["verbose"] = "--verbose" in words
        try:
            raise HistoryError(f"{words[0]} is down")
        except HistoryError:
            raise ZeroDivisionError(f"no division by {words[0]}, {SECRET}") from ValueError(words[0])

    monkeypatch.setattr(LazyGroup, "get_command", lambda *_: broken)
    assert main(["run", URLS[0], *words]) == EXIT_DEFECT
    said = everything_said(capsys)
    assert "ZeroDivisionError" in said
    assert ("Traceback" in said) == bool(words)
    holds_none(said)


@pytest.mark.parametrize("echo", ["{}", "x" * 193 + "{}", '"{}"', "Bearer {}"])
def test_a_token_that_a_host_echoes_is_not_shown(
    echo: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its message, also where the message is cut, and in its reason."""
    host = Host()
    server = served(host)
    monkeypatch.setattr(reviews, "PAUSES", ())
    for name, value in {
        "GITHUB_REPOSITORY": "a/b",
        "GITHUB_API_URL": host.address,
        "GITHUB_TOKEN": SECRET,
    }.items():
        monkeypatch.setenv(name, value)
    Path("summary.md").write_text("<!-- evalreport:0123456789ab -->\ntext\n")
    try:
        for host.raw in (
            {},
            {"GET": f"HTTP/1.1 403 {echo.format(SECRET)}\r\n\r\n{{}}".encode()},
            {"GET": f"HTTP/1.1 {echo.format(SECRET)}\r\n\r\n".encode()},
        ):
            host.always = (403, echo.format(SECRET))
            assert main(["comment", ".", "--number", "3"]) == 4
            said = everything_said(capsys)
            assert "could not be written" in said
            holds_none(said)
            assert SECRET[:6] not in said
    finally:
        server.shutdown()
        server.server_close()


def test_copies_of_a_token_are_not_shown_either(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In upper and lower case, turned round, in hex, and in base64 alone or within other bytes."""
    token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    remember(token)
    copies = [token.upper(), token.lower(), token.swapcase(), token[::-1], token.encode().hex()]
    for before in ("", "x", "xy", "Bearer ", ":"):
        copies += [b64encode(f"{before}{token}{after}".encode()).decode() for after in ("", "z", "zz")]
    for copy in copies:
        shown = redacted(f"the host says {copy}.")
        assert "***" in shown
        assert len(shown) < 40, copy
    assert redacted("a class called ghp_16C7") == "a class called ghp_16C7"


def test_user_and_password_of_an_interface_are_not_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are refused, since they would be sent to nobody; also where an @ is not escaped, or the port is none."""
    Path("summary.md").write_text("<!-- evalreport:0123456789ab -->\ntext\n")
    monkeypatch.setenv("GITHUB_REPOSITORY", "a/b")
    monkeypatch.setenv("GITHUB_TOKEN", LATER)
    for user in (f"me:{SECRET}", f"me:{ODD}", SECRET, f"{SECRET}:x-oauth-basic"):
        monkeypatch.setenv("GITHUB_API_URL", f"https://{user}@127.0.0.1:port/api")
        assert main(["comment", ".", "--number", "3"]) == 4
        holds_none(everything_said(capsys))


def test_a_comment_carries_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the summary, nor what is said instead of it, nor a link."""
    host = Host()
    server = served(host)
    for name, value in {
        "GITHUB_REPOSITORY": "a/b",
        "GITHUB_API_URL": host.address,
        "GITHUB_TOKEN": SECRET,
    }.items():
        monkeypatch.setenv(name, value)
    link = f"page=https://me:{LATER.replace('#', '%23')}@example.org/a"
    try:
        for extra in ([], ["--key", "k", "--failed", f"{URLS[0]} is down\nthe token {SECRET}"]):
            Path("summary.md").write_text(f"<!-- evalreport:0123456789ab -->\nsee {URLS[0]}\n{SECRET}\n")
            assert main(["comment", ".", "--number", "3", "--link", link, *extra]) == 0
    finally:
        server.shutdown()
        server.server_close()
    assert len(host.comments) == 2
    for comment in host.comments:
        holds_none(comment["body"])
        assert "Zweites" not in comment["body"]


def test_what_is_written_holds_no_secret_that_was_given(capsys: pytest.CaptureFixture[str]) -> None:
    """A model that is called like the password of the history: records, page and history show it nowhere."""
    Path("models/forest.csv").rename(f"models/forest {SECRET}.csv")
    words = ["audit", "models", "--history", "sqlite:///ok.db", "-f", "html,json,md", "--resamples", "50"]
    remember(SECRET)
    assert main([*words, "--title", f"{SECRET} weekly", "--gate", "n >= 5"]) == 0
    Path(f"models/forest {SECRET}.csv").unlink()
    assert "***" in json.loads(Path("evalreport-out/results.json").read_bytes())["models"][0]
    assert main(["history", "site", "site", "--history", "sqlite:///ok.db"]) == 0
    assert main(["history", "export", "--history", "sqlite:///ok.db"]) == 0
    said = capsys.readouterr()
    for text in (
        said.out,
        said.err,
        *(p.read_text() for p in Path().rglob("*") if p.suffix in (".json", ".html", ".md")),
    ):
        holds_none(text)


def test_progress_and_logs_pass_through_the_same_function(capsys: pytest.CaptureFixture[str]) -> None:
    """One line for people and one for programs."""
    remember(LATER)
    say(f"{URLS[0]} {LATER}")
    tell(f"{URLS[1]}\t{LATER}")
    log_as("json")
    say(f"{URLS[2]} {LATER}")
    log_as("text")
    captured = capsys.readouterr()
    assert captured.out.splitlines()[0] == "postgresql://127.0.0.1:1/db?user=me&password=***\t***"
    holds_none(captured.err + captured.out.splitlines()[0])


def test_few_commands_print_by_themselves(request: pytest.FixtureRequest) -> None:
    """Others use `say` or `tell`: these few print numbers, names of ours and tables of cleaned cells."""
    package = request.config.rootpath / "evalreport"
    printing = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if "click.echo(" in path.read_text(encoding="utf-8")
    }
    assert printing == {"cli/__init__.py", "cli/preparation.py", "history/commands.py", "reviews/commands.py"}
