"""Whatever a host, an event or a pipeline's variables hold, the comment ends with one line and exit code 4."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from pathlib import Path

import pytest

from evalreport.cli import main
from evalreport.reviews import comment as reviews
from tests.samples.cases import every
from tests.samples.review_host import Host, dripping
from tests.samples.systems import needs_pipes

DEEP = b"[" * 100_000
OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
LISTED = json.dumps([{"id": 5, "body": "<!-- evalreport:0123456789ab -->"}]).encode()


def ends_in_one_line(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Comment; exit code 4 and one line, which is returned."""
    assert main(["comment", *words]) == 4
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "secret-token" not in said
    return said


@pytest.mark.parametrize(
    "answer",
    [
        *(OK + body for body in (b"{}", b'{"id": 1}', b'["a"]', b"null", b"7", b'[{"body": "a"', b"", DEEP)),
        OK + LISTED.replace(b": 5", b": null", 1),
        OK + LISTED.replace(b": 5", b": true", 1),
        OK + LISTED.replace(b": 5", b': "../../hooks"', 1),
        OK + LISTED.replace(b": 5", b": 1e400", 1),
        OK + LISTED.replace(b'"id": 5, ', b""),
        b"220 mail.example.org ESMTP\r\n",
        b"HTTP/1.1 abc secret-token\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n[",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n[]",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n[]",
        b"HTTP/1.1 403 secret-token\r\n\r\n" + DEEP,
    ],
)
def test_an_answer_that_no_such_host_gives_is_said_in_one_line(
    host: Host, report: Path, capsys: pytest.CaptureFixture[str], answer: bytes
) -> None:
    """No list, no numbers, cut short, no HTTP at all: nothing is written over, and nothing is created."""
    host.raw["GET"] = answer
    ends_in_one_line(capsys, str(report), "--number", "7")
    assert {method for method, _ in host.calls} == {"GET"}


@pytest.mark.parametrize("body", [b"{}", b"[]", b"null", b'{"id": "7"}', b'{"id": -7}', DEEP])
def test_a_comment_without_a_number_is_said(
    host: Host, report: Path, capsys: pytest.CaptureFixture[str], body: bytes
) -> None:
    """What the host answers to a new comment must name it; it is asked once, since it may have been made."""
    host.raw["POST"] = OK + body
    ends_in_one_line(capsys, str(report), "--number", "7")
    assert [method for method, _ in host.calls] == ["GET", "POST"]


def test_an_answer_that_does_not_end_is_left(
    host: Host, report: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body of more bytes than comments can have is read no further."""
    monkeypatch.setattr(reviews, "MOST_BYTES", 1000)
    host.raw["GET"] = OK + b"[" + b" " * 5000 + b"]"
    assert "does not end" in ends_in_one_line(capsys, str(report), "--number", "7")


ENDLESS = {
    "a body byte by byte": (OK + b"[", b" "),
    "headers byte by byte": (b"HTTP/1.1 200 OK\r\nX: ", b"y"),
    "one header after the other": (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    "100 Continue without end": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "chunks without end": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "an error byte by byte": (b"HTTP/1.1 403 No\r\n\r\n", b"{"),
    "silence": (b"", b""),
}


@pytest.mark.parametrize("first, again", every(4, ENDLESS.values()), ids=ENDLESS)
def test_a_host_that_never_ends_is_left_at_the_deadline(
    first: bytes,
    again: bytes,
    report: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is never silent for long, so that no timeout of the connection ends the wait: one deadline for all does."""
    with dripping(first, again) as address:
        monkeypatch.setenv("GITHUB_REPOSITORY", "team/models")
        monkeypatch.setenv("GITHUB_TOKEN", "secret-token")
        monkeypatch.setenv("GITHUB_API_URL", address)
        before = time.monotonic()
        said = ends_in_one_line(capsys, str(report), "--number", "7", "--timeout", "1")
        assert time.monotonic() - before < 5
        assert "within 1 seconds; give it more with --timeout" in said


@pytest.mark.parametrize(
    "event",
    [
        b"[]",
        b"null",
        b'{"issue": null}',
        b'{"issue": 3}',
        b'{"pull_request": null}',
        b'{"pull_request": "7"}',
        b'{"pull_request": {}}',
        b'{"pull_request": {"number": true}}',
        b'{"pull_request": {"number": "7"}}',
        b'{"pull_request": {"number": 7.5}}',
        b'{"pull_request": {"number": -7}}',
        b'{"issue": {"number": true, "pull_request": {}}}',
        b'{"pull_request": {"number":',
        b"\xff",
        DEEP,
    ],
)
def test_an_event_that_no_host_writes_is_said_in_one_line(
    host: Host,
    report: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    event: bytes,
) -> None:
    """No call is made: `true` is not pull request 1."""
    (report / "event.json").write_bytes(event)
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(report / "event.json"))
    assert "GITHUB_EVENT_PATH" in ends_in_one_line(capsys, str(report))
    assert host.calls == []


@needs_pipes
def test_a_pipe_as_event_is_not_waited_for(
    host: Host, report: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody will write to it."""
    os.mkfifo(report / "event.json")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(report / "event.json"))
    assert "not a regular file" in ends_in_one_line(capsys, str(report))
    assert host.calls == []


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:port",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:0",
        "http://127.0.0.1/a b",
        "http://[::1",
        "http://",
        "ftp://127.0.0.1",
        "http://me:geheim@127.0.0.1",
        "http://127.0.0.1/?token=geheim",
        "http://127.0.0.1\r\nX: y",
        "http://f\u00fc.example",
    ],
)
def test_an_address_that_is_none_is_said_without_repeating_it(
    host: Host,
    report: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    address: str,
) -> None:
    """It may hold a password; the variable is named instead."""
    monkeypatch.setenv("GITHUB_API_URL", address)
    said = ends_in_one_line(capsys, str(report), "--number", "7")
    assert "GITHUB_API_URL" in said
    assert "geheim" not in said


@pytest.mark.parametrize(
    "name", ["../..", "team/..", "./models", "team/models/x", "team", "te\u00e4m/models"]
)
def test_a_repository_that_leads_elsewhere_is_refused(
    host: Host, report: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """GITHUB_REPOSITORY=../.. would be another place of the interface, asked with our token."""
    monkeypatch.setenv("GITHUB_REPOSITORY", name)
    assert "OWNER/NAME" in ends_in_one_line(capsys, str(report), "--number", "7")
    assert host.calls == []


def test_a_connection_that_closes_at_once_is_said(
    host: Host, report: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is accepted and closed without a word, three times."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def close() -> None:
            for _ in range(3):
                server.accept()[0].close()

        closing = threading.Thread(target=close, daemon=True)
        closing.start()
        monkeypatch.setenv("GITHUB_API_URL", f"http://127.0.0.1:{server.getsockname()[1]}")
        assert "could not be written" in ends_in_one_line(capsys, str(report), "--number", "7")
        closing.join()
