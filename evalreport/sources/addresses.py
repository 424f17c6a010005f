"""Files at addresses: s3:// and gs:// through pyarrow's file systems, http(s):// through Python's own client.

Each file is copied to a temporary folder first: its digest needs all of its bytes, and every check of a hostile file
works on a file of this machine. Only the addresses that the user named, and the files they list, are requested.
"""

from __future__ import annotations

import base64
import errno
import http.client
import os
import re
import shutil
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path, PurePath
from typing import IO
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from pyarrow import fs

from evalreport.errors import SCHEMES, InputError, UsageError, remember, remember_address, without_parameters
from evalreport.sources.folders import MOST_FILES, Entry, fixed_part, hidden, is_pattern, matching, too_many
from evalreport.sources.reading import file_format
from evalreport.texts import say
from evalreport.version import __version__

OPTIONS = ("region", "endpoint_override", "scheme", "anonymous")
"""What may stand after the ? of an address of a bucket."""
CONNECTING, ANSWERING = 10.0, 60.0
PIECE, ROOM_EVERY = 2**16, 2**26
"""Bytes that are read at a time, and after which the room on the disk is looked at again."""
MOST_BYTES, LEFT_FREE = 50 * 10**9, 200 * 10**6
"""The most bytes of one file from a server, and those that stay free on the disk."""
LEAST_BYTES_A_SECOND = 1_000
"""A body may take ANSWERING seconds, and a second more for so many bytes."""
"""Seconds that a server may take to answer, and to send the next bytes."""
AT_ONCE = 8
"""Files that are copied at the same time."""
_CODE = re.compile(r"AWS Error ([A-Z_]+)|HTTP status (?:code )?(\d{3})|\b([A-Z]+(?:_[A-Z]+)+)\b")
_SECRETS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_SAFE = "/%:@!$&'()*+,;=~"


@dataclass(frozen=True, slots=True)
class Address:
    """An address as the user named it, in parts."""

    scheme: str
    user: str | None
    password: str | None
    host: str
    path: str
    query: str

    @property
    def shown(self) -> str:
        """The address without user, password and parameters, as messages and records show it."""
        return f"{self.scheme}://{self.host}{without_parameters(self.scheme, self.path)}"


def read_address(text: str) -> Address:
    """Divide an address into its parts, and hide its secrets from here on.

    Raises
    ------
    InputError
        A scheme that is not read, or an address that cannot be understood.

    Examples
    --------
    >>> read_address("https://me:open-sesame@host.example/a%20b/forest.csv?sig=0123456789").shown
    'https://host.example/a%20b/forest.csv'
    """
    remember_address(text)
    remember(*(os.environ.get(name, "") for name in _SECRETS))
    scheme, _, rest = text.partition(":")
    scheme = scheme.lower()
    if not rest.startswith("//"):
        raise _refused(
            f"{scheme}:", "an address has two slashes after its scheme", "pass it as text, not as a Path"
        )
    if scheme not in SCHEMES:
        raise _refused(
            f"{scheme}://", "addresses of this kind are not read", "copy the files here, and name the copy"
        )
    pure, _, query = rest[2:].partition("#")[0].partition("?")
    netloc, slash, path = pure.partition("/")
    login, at, host = netloc.rpartition("@")
    user, colon, password = login.partition(":")
    if not re.fullmatch(r"[\w.-]+(:\d{1,5})?|\[[0-9a-fA-F:.]+\](:\d{1,5})?", host):
        raise _refused(
            f"{scheme}://", "its host cannot be read", "write /, @ and : of a password as %2F, %40 and %3A"
        )
    if "@" in path and ":" in netloc and not at and not re.search(r":\d+$", netloc):
        raise _refused(f"{scheme}://", "its host cannot be read", "write / of a password as %2F")
    login_parts = (unquote(user) if at else None, unquote(password) if colon else None)
    return Address(scheme, *login_parts, host, slash + path, query)


def _refused(shown: str, problem: str, remedy: str) -> InputError:
    return InputError.of("address", file=shown, problem=problem, remedy=remedy)


@dataclass(frozen=True, slots=True)
class Listing:
    """The files at an address, the name of the folder that it names (empty: it names a file), and how to copy one."""

    entries: tuple[Entry, ...]
    top: str
    copy: Callable[[Entry, Path], None]


def copied(listing: Listing, entries: Sequence[Entry], folder: Path) -> list[Path]:
    """Copy files into a folder, some at a time, under names of their own there; return where each is.

    Raises
    ------
    InputError
        One of them cannot be read, or there is no room.
    """
    start = sum(1 for _ in folder.iterdir())

    def copy(numbered: tuple[int, Entry]) -> Path:
        number, entry = numbered
        place = folder / f"{start + number}.{file_format(PurePath(entry.file))}"
        listing.copy(entry, place)
        return place

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(copy, enumerate(entries)))


def copy_one(base: Address, below: str, to: Path) -> None:
    """Copy one file below an address; where it is not there, nothing.

    Raises
    ------
    InputError
        The address cannot be read.
    """
    address = replace(base, path=f"{base.path.rstrip('/')}/{below}")
    try:
        listing = listed(address)
        if not listing.top:
            listing.copy(listing.entries[0], to)
    except NothingThere:
        pass


def listed(address: Address) -> Listing:
    """Find the files of an address: a file, a folder of a bucket, or a pattern in one.

    Raises
    ------
    InputError
        There is nothing, it may not be read, or the server cannot be reached or gives no answer.
    """
    if address.scheme in ("http", "https"):
        return _web_file(address)
    return _bucket(address)


# --- http and https -------------------------------------------------------------------------------------------------


def _web_file(address: Address) -> Listing:
    name = unquote(without_parameters(address.scheme, address.path).rpartition("/")[2])
    if not name or is_pattern(address.path):
        raise InputError.of("web_folder", file=address.shown)

    def copy(_entry: Entry, to: Path) -> None:
        with _reading(address.shown), _opened(address) as answer, to.open("wb") as stream:
            _copy_body(answer, stream, to)

    return Listing((Entry(address.shown, (), name),), "", copy)


def _copy_body(answer: http.client.HTTPResponse, stream: IO[bytes], to: Path) -> None:
    """Copy what a server sends: what it declared, within the room of the disk, and not slower than it must be.

    Raises
    ------
    OSError
        It is more than was declared, than there is room for or than is read, or it drips.
    http.client.IncompleteRead
        It is less than was declared.
    """
    header = answer.headers.get("Content-Length")
    usable = header is not None and header.isascii() and header.isdigit() and len(header) < 16
    declared = int(header) if header is not None and usable else None
    most = MOST_BYTES if declared is None else declared
    if most > MOST_BYTES or (declared is not None and declared > _room(to)):
        raise OSError(errno.ENOSPC, "more than there is room for")
    began, done = time.monotonic(), 0
    while piece := answer.read1(PIECE):
        done += len(piece)
        looked = done // ROOM_EVERY > (done - len(piece)) // ROOM_EVERY
        if done > most or (looked and _room(to) == 0):
            raise OSError(errno.ENOSPC, "more than was declared, or than there is room for")
        if time.monotonic() - began > ANSWERING + done / LEAST_BYTES_A_SECOND:
            raise TimeoutError("timed out")
        stream.write(piece)
    if declared is not None and done != declared:
        raise http.client.IncompleteRead(b"")


def _room(to: Path) -> int:
    """Return the bytes that may still be written beside a file: some are left to others."""
    return max(shutil.disk_usage(to.parent).free - LEFT_FREE, 0)


def _opened(address: Address) -> http.client.HTTPResponse:
    query = f"?{quote(address.query, safe=_SAFE + '?')}" if address.query else ""
    request = urllib.request.Request(  # noqa: S310  the scheme was checked
        f"{address.scheme}://{address.host}{quote(address.path, safe=_SAFE)}{query}",
        headers={"User-Agent": f"evalreport/{__version__}", "Accept-Encoding": "identity"},
    )
    if address.user is not None:
        login = f"{address.user}:{address.password or ''}".encode()
        request.add_unredirected_header("Authorization", "Basic " + base64.b64encode(login).decode())
    opener = urllib.request.build_opener(_SameServer)
    answer: http.client.HTTPResponse = opener.open(request, timeout=ANSWERING)
    return answer


class _SameServer(urllib.request.HTTPRedirectHandler):
    """Follow a redirection on the same server only: the user named no other."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Refuse another server; the login goes along to the same one."""
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if (old.scheme, old.netloc) != (new.scheme, new.netloc):
            fp.close()
            raise _Elsewhere(f"{new.scheme}://{new.hostname}")
        again = super().redirect_request(req, fp, code, msg, headers, newurl)
        if again is not None:
            again.unredirected_hdrs = dict(req.unredirected_hdrs)
        return again


class _Elsewhere(Exception):  # noqa: N818  it is no error of ours
    """A server sends its visitors to another one."""


# --- buckets --------------------------------------------------------------------------------------------------------


def _bucket(address: Address) -> Listing:
    whole = f"{address.host}{address.path}".rstrip("/")
    top = fixed_part(whole) if is_pattern(whole) else whole
    with _reading(address.shown):
        system = _file_system(address)
        here = system.get_file_info(top)
        if here.type == fs.FileType.NotFound:
            raise FileNotFoundError
        files = [here] if here.is_file else system.get_file_info(fs.FileSelector(top, recursive=True))
    entries = []
    for info in sorted(files, key=lambda info: str(info.path)):
        *folders, file = info.path[len(top) :].strip("/").split("/") if not here.is_file else [info.base_name]
        if info.is_file and not any(map(hidden, folders)):
            entries.append(Entry(f"{address.scheme}://{info.path}", tuple(folders), file))
    if len(entries) > MOST_FILES:
        raise too_many(address.shown)
    if is_pattern(whole):
        entries = matching(entries, whole)

    def copy(entry: Entry, to: Path) -> None:
        with _reading(entry.name):
            source = system.open_input_stream(entry.name.partition("://")[2])
            with source, to.open("wb") as stream:
                shutil.copyfileobj(source, stream, 1 << 20)

    return Listing(tuple(entries), "" if here.is_file else top.rpartition("/")[2], copy)


def _file_system(address: Address) -> fs.FileSystem:
    options = dict(parse_qsl(address.query))
    unknown = sorted(set(options) - {*OPTIONS})
    if unknown:
        raise UsageError(f"{address.shown}: after the ? stand {', '.join(OPTIONS)}, not {unknown[0][:40]}")
    anonymous = options.get("anonymous") == "true"
    endpoint, scheme = options.get("endpoint_override"), options.get("scheme", "https")
    if address.scheme == "gs":
        anonymous = anonymous or address.user == "anonymous"
        limit = timedelta(seconds=ANSWERING)
        return fs.GcsFileSystem(
            anonymous=anonymous, endpoint_override=endpoint, scheme=scheme, retry_time_limit=limit
        )
    elsewhere = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint is None and elsewhere:
        scheme, _, endpoint = elsewhere.rstrip("/").rpartition("://")
    region = options.get("region") or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if region is None and not endpoint:
        region = fs.resolve_s3_region(address.host)
    return fs.S3FileSystem(
        access_key=address.user,
        secret_key=address.password,
        anonymous=anonymous,
        region=region,
        endpoint_override=endpoint,
        scheme=scheme or "https",
        connect_timeout=CONNECTING,
        request_timeout=ANSWERING,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=2),
    )


# --- what goes wrong ------------------------------------------------------------------------------------------------


@contextmanager
def _reading(shown: str) -> Iterator[None]:
    """Turn the errors of a library into one message about an address; of the library's words only the code is kept."""
    try:
        yield
    except (OSError, ValueError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        raise _failed(shown, *_understood(error)) from None
    except _Elsewhere as error:
        raise InputError.of("sent_elsewhere", file=shown, error=error) from None


class NothingThere(InputError):  # noqa: N818  an error by its base
    """There is no such file, folder or bucket."""


def _failed(shown: str, kind: str, code: str | None) -> InputError:
    problem, remedy = say(f"address_problem.{kind}"), say(f"address_remedy.{kind}")
    return (NothingThere if kind == "nothing" else InputError).of(
        "address_failed", file=shown, problem=problem + (f" ({code})" if code else ""), remedy=remedy
    )


def _understood(error: BaseException) -> tuple[str, str | None]:
    """Return the kind of a failure, and the code that the server gave."""
    if isinstance(error, urllib.error.HTTPError):
        return _by_code(str(error.code)), f"HTTP {error.code}"
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, BaseException):
        error = error.reason
    cut = (http.client.IncompleteRead, ConnectionResetError, http.client.RemoteDisconnected)
    kinds: dict[str, bool] = {
        "certificate": isinstance(error, ssl.SSLError),
        "room": isinstance(error, OSError) and error.errno == errno.ENOSPC,
        "time": isinstance(error, TimeoutError),
        "cut": isinstance(error, cut),
        "connection": isinstance(error, (ConnectionError, urllib.error.URLError, socket.gaierror)),
        "nothing": isinstance(error, FileNotFoundError),
    }
    if any(kinds.values()):
        return next(kind for kind, holds in kinds.items() if holds), None
    text = str(error)
    code = next((group for match in _CODE.finditer(text) for group in match.groups() if group), None)
    return _by_code(text if code is None else f"{code} {text}"), code


def _by_code(text: str) -> str:
    kinds = {
        "nothing": r"\b404\b|NO_SUCH|NOT_FOUND|not found|does not exist",
        "permission": r"\b40[13]\b|ACCESS_DENIED|PERMISSION|SIGNATURE|INVALID_ACCESS|UNAUTH|TOKEN|credential",
        "certificate": r"SSL|TLS|certificate",
        "time": r"timed? ?out|timeout|DEADLINE",
        "connection": r"NETWORK_CONNECTION|resolve|connect|UNAVAILABLE",
    }
    return next((kind for kind, words in kinds.items() if re.search(words, text, re.IGNORECASE)), "other")
