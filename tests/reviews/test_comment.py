"""One comment on a review: created once, then updated in place, on GitHub and on GitLab."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalreport.cli import main
from evalreport.errors import OutputError, UsageError
from evalreport.reviews import comment as reviews
from evalreport.reviews.comment import body_of, links_of, marker_of, publish, review_of
from tests.samples.review_host import Host
from tests.samples.reviews import SUMMARY

MARKER = SUMMARY.splitlines()[0]


def comment(report: Path, *words: str) -> int:
    """Comment on pull request 7."""
    return main(["comment", str(report), "--number", "7", *words])


def test_a_comment_is_created_once_and_then_updated_in_place(host: Host, report: Path, capsys):
    """Two runs, one comment, with the second run's text; others' comments stay as they are."""
    host.add("looks good to me")
    assert comment(report) == 0
    (report / "summary.md").write_text(SUMMARY.replace("better", "worse"), encoding="utf-8")
    assert comment(report) == 0
    assert [c["body"].splitlines()[-1] for c in host.comments] == ["looks good to me", "forest is worse"]
    assert [method for method, _ in host.calls] == ["GET", "POST", "GET", "PATCH"]
    assert host.calls[-1][1] == "/repos/team/models/issues/comments/1001"
    assert capsys.readouterr().out == "comment 1001 created\ncomment 1001 updated\n"


def test_a_comment_on_a_later_page_is_found(host: Host, report: Path, capsys):
    """The 231st comment is the one: three pages of 100 are read, and no second comment is made."""
    host.add(*(f"comment {number}" for number in range(230)), SUMMARY, "thanks")
    assert comment(report) == 0
    assert [method for method, _ in host.calls] == ["GET", "GET", "GET", "PATCH"]
    assert len(host.comments) == 232
    assert "comment 1230 updated" in capsys.readouterr().out


def test_a_full_last_page_ends_the_search(host: Host, report: Path):
    """Exactly 100 comments: the empty second page says that there are no more."""
    host.add(*(f"comment {number}" for number in range(100)))
    assert comment(report) == 0
    assert [method for method, _ in host.calls] == ["GET", "GET", "POST"]


def test_whoever_quotes_the_marker_is_not_overwritten(host: Host, report: Path):
    """Only a comment that begins with the marker is ours."""
    quoted = f"> {SUMMARY}\nwhat is this?"
    host.add(quoted, f"see {MARKER}")
    assert comment(report) == 0
    assert [c["body"] for c in host.comments[:2]] == [quoted, f"see {MARKER}"]
    assert len(host.comments) == 3


def test_two_jobs_on_one_review_have_a_comment_each(host: Host, report: Path):
    """--key tells them apart where their reports have the same title and metric, and joins runs of one job."""
    for key in ("linux", "windows", "linux"):
        assert comment(report, "--key", key) == 0
    assert [c["body"].splitlines()[0] for c in host.comments] == [marker_of("linux"), marker_of("windows")]


def test_a_refusal_is_said_with_what_to_do_and_without_the_token(host: Host, report: Path, capsys):
    """403, as for a pull request from a fork: exit 4, one message, no second try, no token in it."""
    host.always = (403, "Resource not accessible by integration")
    assert comment(report) == 4
    said = capsys.readouterr().err
    assert "Resource not accessible" in said
    assert "pull-requests: write" in said
    assert "secret-token" not in said
    assert len(host.calls) == 1


def test_a_busy_host_is_asked_again(host: Host, report: Path):
    """Two answers of 502 and 503 cost nothing but time; a third ends it."""
    host.answers = [(502, "bad gateway"), (503, "busy")]
    assert comment(report) == 0
    assert len(host.comments) == 1
    host.always = (503, "busy")
    host.calls.clear()
    assert comment(report) == 4
    assert len(host.calls) == 3


def test_the_token_follows_no_redirect(host: Host, report: Path, capsys):
    """A redirect to another host is an error, not another request with our token."""
    host.always = (302, "moved")
    assert comment(report) == 4
    assert "302" in capsys.readouterr().err


def test_nobody_listening_is_an_error_in_words(host: Host, report: Path, monkeypatch, capsys):
    """A host that cannot be reached: exit 4, no traceback."""
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    assert comment(report) == 4
    assert "the comment could not be written" in capsys.readouterr().err


def test_the_number_is_read_from_the_event(host: Host, report: Path, tmp_path: Path, monkeypatch):
    """A pull request's event and a comment's on one have a number."""
    for event in ({"pull_request": {"number": 12}}, {"issue": {"number": 12, "pull_request": {}}}):
        (tmp_path / "event.json").write_text(json.dumps(event))
        monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
        assert main(["comment", str(report)]) == 0
    assert {path.split("?")[0] for _, path in host.calls[:2]} == {"/repos/team/models/issues/12/comments"}


@pytest.mark.parametrize("event", [{}, {"ref": "refs/heads/main"}, {"issue": {"number": 3}}])
def test_outside_of_a_review_nothing_is_done(
    host: Host, report: Path, tmp_path: Path, monkeypatch, capsys, event
):
    """A push, a schedule, an issue: exit 0, no call, and it is said."""
    (tmp_path / "event.json").write_text(json.dumps(event))
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    assert main(["comment", str(report)]) == 0
    assert host.calls == []
    assert "no comment" in capsys.readouterr().out


def test_gitlab_has_its_own_addresses_and_header(host: Host, report: Path, monkeypatch):
    """Notes of a merge request: POST, then PUT, with PRIVATE-TOKEN."""
    for name, value in {
        "GITLAB_CI": "true", "CI_API_V4_URL": f"{host.address}/api/v4", "CI_PROJECT_ID": "42",
        "CI_MERGE_REQUEST_IID": "5", "GITLAB_TOKEN": "glpat",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    assert main(["comment", str(report)]) == 0
    assert main(["comment", str(report)]) == 0
    assert len(host.comments) == 1
    root = "/api/v4/projects/42/merge_requests/5/notes"
    assert [(method, path.split("?")[0]) for method, path in host.calls] == [
        ("GET", root), ("POST", root), ("GET", root), ("PUT", f"{root}/1000"),
    ]  # fmt: skip
    assert {headers["Private-Token"] for headers in host.headers} == {"glpat"}


def test_a_run_without_a_report_says_so_in_the_same_comment(host: Host, report: Path):
    """The green comment of an earlier push does not stay; what is quoted cannot end its block."""
    assert comment(report, "--key", "job") == 0
    assert comment(report, "--key", "job", "--failed", "models: a.csv, line 3\n```\n@team") == 0
    (only,) = host.comments
    assert only["body"].startswith(f"{marker_of('job')}\n**evalreport made no report**")
    assert "    ```\n    @team" in only["body"]


def test_a_long_summary_is_cut_with_its_marker_and_links_whole():
    """The host takes 65,536 characters; what is cut is said."""
    links = "[report](https://example.org/a)"
    body = body_of(SUMMARY + "x" * 100_000, host="github", links=links)
    assert len(body) <= 65_536
    assert body.startswith(MARKER)
    assert body.endswith(f"{links}\n")
    assert "Cut here" in body


def test_links_are_addresses_and_nothing_else():
    """What is no plain address of the web is left out: it could end the link and begin mark-up."""
    environment = {
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "a/b",
        "GITHUB_RUN_ID": "9",
    }
    links = links_of(environment, [("report", "javascript:alert(1)"), ("html", "https://x.org/r")])
    assert links == "[html](https://x.org/r) · [run](https://github.com/a/b/actions/runs/9)"


@pytest.mark.parametrize(
    "environment, message",
    [
        ({}, "no pull or merge request was found"),
        ({"GITHUB_REPOSITORY": "a/b"}, "no token to comment with: set GITHUB_TOKEN"),
        ({"GITHUB_REPOSITORY": "a/b/../c", "GITHUB_TOKEN": "t"}, "expected OWNER/NAME"),
        (
            {"GITHUB_REPOSITORY": "a/b", "GITHUB_TOKEN": "t", "GITHUB_API_URL": "file:///etc"},
            "not the address of an API",
        ),
    ],
)
def test_what_is_missing_is_named(environment, message):
    """Each gap in the environment is one message that says what to set."""
    with pytest.raises(UsageError, match=message):
        review_of(environment, number=1)


def test_a_summary_without_a_marker_needs_a_key():
    """A template of one's own may have lost it: updating in place would not be possible."""
    with pytest.raises(UsageError, match="--key"):
        body_of("# mine", host="github")
    assert body_of("# mine", host="github", key="k") == f"{marker_of('k')}\n# mine"


def test_a_creation_that_timed_out_is_not_tried_again(host: Host, monkeypatch):
    """It may have arrived: a second one would stay for ever."""
    review = review_of(
        {"GITHUB_REPOSITORY": "a/b", "GITHUB_TOKEN": "t", "GITHUB_API_URL": host.address}, number=1
    )
    assert review is not None
    once, tried = reviews._once, []

    def late(review, method, address, content):
        tried.append(method)
        if method == "POST":
            raise TimeoutError("timed out")
        return once(review, method, address, content)

    monkeypatch.setattr(reviews, "_once", late)
    with pytest.raises(OutputError, match="timed out"):
        publish(review, SUMMARY)
    assert tried == ["GET", "POST"]
