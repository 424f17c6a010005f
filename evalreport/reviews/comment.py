"""One comment on a pull request or merge request, created once and then updated.

A hidden marker at its beginning identifies the comment. The host and the address of its API are read from the variables
of its pipelines.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from evalreport.errors import OutputError, UsageError, redacted, remember, remember_address
from evalreport.files import content_of
from evalreport.texts import say

Host = Literal["github", "gitlab"]

MARKER = re.compile(r"\A<!-- evalreport:[0-9a-f]{12} -->")
LONGEST: Mapping[Host, int] = {"github": 65_536, "gitlab": 1_000_000}
"""The greatest number of characters of a comment."""
A_PAGE = 100
MOST_PAGES = 100
"""The search ends after 10,000 comments."""
MOST_BYTES = 400_000_000
"""The greatest size of a response: a hundred comments of a million characters."""
TIMEOUT = 60.0
"""Seconds for everything: the search for the comment, further tries and the writing."""
SECONDS = 20.0
"""Of silence, after which a connection is given up and tried again."""
PAUSES = (1.0, 3.0)
"""Seconds before each further try, after no response or one that the host is busy."""
BUSY = frozenset({429, 500, 502, 503, 504})
REFUSED = frozenset({429, 503})
"""Responses after which no comment can have been created."""


@dataclass(frozen=True, slots=True)
class Review:
    """A pull or merge request: the addresses of its comments and of one comment, and the headers with the token."""

    host: Host
    comments: str
    comment: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Published:
    """Whether the comment was created or updated, and its number."""

    done: Literal["created", "updated"]
    id: int


def review_of(environment: Mapping[str, str], *, number: int | None) -> Review | None:
    """Return the review of a pipeline; None: it runs for no review.

    Parameters
    ----------
    environment
        The variables of GitHub Actions or GitLab CI.
    number
        The number of the pull or merge request; None: that of the pipeline's event.

    Raises
    ------
    UsageError
        The variables of neither host are set, or there is no token.
    """
    if environment.get("GITLAB_CI") and environment.get("CI_API_V4_URL"):
        return _gitlab(environment, number)
    if environment.get("GITHUB_REPOSITORY"):
        return _github(environment, number)
    raise UsageError(
        "no pull or merge request was found: set GITHUB_REPOSITORY, GITHUB_TOKEN and --number (GitHub), or GITLAB_CI,"
        " CI_API_V4_URL, CI_PROJECT_ID, GITLAB_TOKEN and --number (GitLab)"
    )


def marker_of(key: str) -> str:
    """Return the marker of a comment with a key, such as a workflow and its job.

    Examples
    --------
    >>> marker_of("nightly/audit")
    '<!-- evalreport:d0aa6f3e8727 -->'
    """
    return f"<!-- evalreport:{hashlib.sha256(key.encode()).hexdigest()[:12]} -->"


def body_of(summary: str, *, host: Host, key: str | None = None, links: str = "") -> str:
    """Return a comment: the marker of the key (or the summary's own), the summary, and links.

    Raises
    ------
    UsageError
        Without a key, the summary has no marker.
    """
    found = MARKER.match(summary)
    if key is None and found is None:
        raise UsageError("this summary.md has no marker of evalreport in its first line; name one with --key")
    text = summary[found.end() :] if found else f"\n{summary}"
    marker = marker_of(key) if key is not None else found[0] if found else ""
    end = f"\n{links}\n" if links else ""
    room = LONGEST[host] - len(marker) - len(end)
    if len(text) > room:
        cut = f"\n\n{say('review.cut')}\n"
        text = text[: room - len(cut)] + cut
    return marker + text + end


def with_part(summary: str, part: str) -> str:
    """Insert a part into a summary, before the folded details."""
    before, fold, after = summary.partition("<details>")
    return f"{before.rstrip()}\n\n{part}\n{fold}{after}"


def publish(review: Review, body: str, *, timeout: float = TIMEOUT) -> Published:
    """Create the comment, or update the one that begins with the same marker.

    Parameters
    ----------
    timeout
        Seconds after which the host is left, whatever it is sending.

    Raises
    ------
    OutputError
        The host cannot be reached, refuses, gives an unexpected response, or takes too long.
    """
    body = redacted(body)
    until = time.monotonic() + timeout

    def written() -> Published:
        marker = body.split("-->", 1)[0] + "-->"
        known = _find(review, marker, until)
        if known is None:
            made = _call(review, "POST", review.comments, until, {"body": body})
            return Published("created", _id_of(made))
        method = "PATCH" if review.host == "github" else "PUT"
        _call(review, method, review.comment.format(id=known), until, {"body": body})
        return Published("updated", known)

    return _before(until, written, timeout)


def _before(until: float, act: Callable[[], Published], timeout: float) -> Published:
    """Return the result of an action that is left alone at its deadline.

    It runs in a thread of its own, because no timeout of a socket ends the wait for a name that is looked up, or for
    headers that come byte by byte.
    """
    ended: SimpleQueue[Published | Exception] = SimpleQueue()

    def run() -> None:
        try:
            ended.put(act())
        except Exception as error:  # noqa: BLE001 - raised again below
            ended.put(error)

    threading.Thread(target=copy_context().run, args=(run,), daemon=True).start()
    try:
        published = ended.get(timeout=max(0.0, until - time.monotonic()))
    except Empty:
        raise OutputError(
            f"the comment could not be written, or nothing said that it was: the host did not end its answers within"
            f" {timeout:g} seconds; give it more with --timeout"
        ) from None
    if isinstance(published, Exception):
        raise published
    return published


def _github(environment: Mapping[str, str], number: int | None) -> Review | None:
    repository = environment["GITHUB_REPOSITORY"]
    # A name of dots alone would lead to another address of the API.
    if not re.fullmatch(r"(?!\.+/)[\w.-]+/(?!\.+$)[\w.-]+", repository, re.ASCII):
        raise UsageError(f"GITHUB_REPOSITORY={repository!r}: expected OWNER/NAME")
    number = number if number is not None else _number_of_event(environment.get("GITHUB_EVENT_PATH"))
    if number is None:
        return None
    token = _token(environment, "GITHUB_TOKEN", "GH_TOKEN")
    root = f"{_root(environment, 'GITHUB_API_URL', 'https://api.github.com')}/repos/{repository}/issues"
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    return Review("github", f"{root}/{number}/comments", f"{root}/comments/{{id}}", headers)


def _gitlab(environment: Mapping[str, str], number: int | None) -> Review | None:
    given = environment.get("CI_MERGE_REQUEST_IID", "")
    number = number if number is not None else int(given) if re.fullmatch("[0-9]{1,18}", given) else None
    if number is None:
        return None
    # CI_JOB_TOKEN may not write notes, so the project needs a token.
    token = _token(environment, "GITLAB_TOKEN", "EVALREPORT_TOKEN")
    project = quote(environment.get("CI_PROJECT_ID", ""), safe="")
    if not project.strip("."):
        raise UsageError(f"CI_PROJECT_ID={project!r}: expected a project's number or path")
    root = f"{_root(environment, 'CI_API_V4_URL')}/projects/{project}/merge_requests/{number}/notes"
    return Review("gitlab", root, f"{root}/{{id}}", {"PRIVATE-TOKEN": token})


def _number_of_event(path: str | None) -> int | None:
    """Return the number of the event's pull request; None: it has none."""
    if not path:
        return None
    try:
        event = json.loads(content_of(path))
    except (OSError, ValueError, RecursionError) as error:
        raise _no_event(path, str(error)[:160]) from None
    if not isinstance(event, dict) or not all(
        isinstance(event.get(part, {}), dict) for part in ("pull_request", "issue")
    ):
        raise _no_event(path, "it is not of the form of an event")
    about = [event.get("pull_request"), event.get("issue")]
    pull = about[0] if about[0] is not None else about[1] if "pull_request" in (about[1] or {}) else None
    if pull is None:
        return None
    number = _number(pull.get("number"))
    if number is None:
        raise _no_event(path, "its pull request has no number")
    return number


def _no_event(path: str, why: str) -> UsageError:
    return UsageError(f"GITHUB_EVENT_PATH={path}: cannot be read ({why}); give --number")


def _number(value: object) -> int | None:
    """Return a number of a review or comment; None: the value is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _token(environment: Mapping[str, str], *names: str) -> str:
    for name in names:
        token = environment.get(name, "").strip()
        if token.isascii() and token.isprintable() and token:
            remember(token)
            return token
    raise UsageError(f"no token to comment with: set {' or '.join(names)}")


def _root(environment: Mapping[str, str], name: str, otherwise: str = "") -> str:
    """Return the address of the API in a variable.

    Raises
    ------
    UsageError
        It is no address, or holds a user or password, which the message does not repeat.
    """
    address = environment.get(name) or otherwise
    remember_address(address)
    try:
        parts = urlsplit(address)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        right = False
    if not right or not re.fullmatch("[!-~]+", address) or set(address) & set("@?#\\"):
        raise UsageError(
            f"{name} is not the address of an API; expected https://HOST/PATH, without user, password or parameters"
        )
    return address.rstrip("/")


class _Staying(urllib.request.HTTPRedirectHandler):
    """Follow no redirect, because the token is for one host only."""

    def redirect_request(self, *_: object) -> None:
        """Return no request, so that the redirect is an error."""


def _find(review: Review, marker: str, until: float) -> int | None:
    """Return the number of the oldest comment with the marker; None: there is none."""
    for page in range(1, MOST_PAGES + 1):
        order = "&sort=asc&order_by=created_at" if review.host == "gitlab" else ""
        answer = _call(review, "GET", f"{review.comments}?per_page={A_PAGE}&page={page}{order}", until)
        if not isinstance(answer, list) or not all(isinstance(comment, dict) for comment in answer):
            raise _not_understood("what it gives is no list of comments")
        for comment in answer:
            if str(comment.get("body") or "").lstrip().startswith(marker):
                return _id_of(comment)
        if len(answer) < A_PAGE:
            return None
    return None


def _id_of(comment: object) -> int:
    """Return the number of a comment from the host."""
    number = _number(comment.get("id")) if isinstance(comment, dict) else None
    if number is None:
        raise _not_understood("a comment has no number")
    return number


def _not_understood(why: str) -> OutputError:
    return OutputError(f"unexpected answer from the host: {why}; is this the address of its API?")


def _call(
    review: Review, method: str, address: str, until: float, content: Mapping[str, str] | None = None
) -> Any:
    """Make one call, with further tries if the host is busy and there is time."""
    for pause in (*PAUSES, None):
        try:
            return _once(review, method, address, content)
        except urllib.error.HTTPError as error:
            problem = _problem(error)
            again = REFUSED if method == "POST" else BUSY
            if error.code not in again or pause is None:
                raise OutputError(
                    f"the comment could not be written: {method} {address}: {problem}{_hint(error.code)}"
                ) from error
        except (OSError, ValueError, RecursionError, http.client.HTTPException) as error:
            if pause is None or method == "POST":
                reason = redacted(str(getattr(error, "reason", error)) or type(error).__name__)[:200]
                raise OutputError(
                    f"the comment could not be written: {method} {address}: {reason}"
                ) from error
        time.sleep(max(0.0, min(pause, until - time.monotonic())))
    raise AssertionError("the last try returns or raises")


def _once(review: Review, method: str, address: str, content: Mapping[str, str] | None) -> Any:
    data = None if content is None else json.dumps(content).encode()
    headers = {**review.headers, "User-Agent": "evalreport", "Content-Type": "application/json"}
    request = urllib.request.Request(address, data=data, headers=headers, method=method)  # noqa: S310 - _root checked it
    with urllib.request.build_opener(_Staying).open(request, timeout=SECONDS) as answer:
        return json.loads(_read(answer))


def _read(answer: http.client.HTTPResponse) -> bytes:
    """Read a response of limited size."""
    parts = [b""]
    while part := answer.read1(1 << 20):
        parts.append(part)
        if sum(map(len, parts)) > MOST_BYTES:
            raise ValueError("the answer does not end")
    return b"".join(parts)


def _problem(error: urllib.error.HTTPError) -> str:
    """Return the host's error message, shortened."""
    try:
        with error:
            answer = json.loads(error.read(2000))
        words = answer.get("message") or answer.get("error") or ""
    except (OSError, ValueError, AttributeError, RecursionError, http.client.HTTPException):
        words = ""
    # Secrets are hidden before the text is shortened, which could leave half of one.
    reason, words = redacted(str(error.reason))[:200], redacted(str(words))[:200]
    return f"{error.code} {reason}" + (f" ({words})" if words else "")


def _hint(code: int) -> str:
    if code in (401, 403, 404):
        return say("review.token")
    return ""


def links_of(environment: Mapping[str, str], extra: Sequence[tuple[str, str]]) -> str:
    """Return links in Markdown to the report's artefacts and the pipeline's run."""
    links = [(words, address) for words, address in extra if address]
    server, run = environment.get("GITHUB_SERVER_URL"), environment.get("GITHUB_RUN_ID")
    if server and run:
        links.append(("run", f"{server}/{environment.get('GITHUB_REPOSITORY', '')}/actions/runs/{run}"))
    elif environment.get("CI_JOB_URL"):
        links.append(("job", environment["CI_JOB_URL"]))
    return " · ".join(
        f"[{words}]({address})" for words, address in links if re.fullmatch(r"https?://[^\s()<>]+", address)
    )


# --- parts ----------------------------------------------------------------------------------------------------------
