"""Files at addresses: web servers and buckets on loopback; every failure is one message, and no secret is printed."""

from __future__ import annotations

import base64
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, unquote

import pytest

from evalreport.cli import main
from evalreport.errors import InputError, forget
from evalreport.loading.load import load
from evalreport.options import Options
from evalreport.sources import addresses
from tests.samples.cases import every

MODEL = "id,y_true,y_pred\n" + "".join(f"e{i},{i % 2},{i % 3 % 2}\n" for i in range(40))
PASSWORD, SIGNATURE = "open-sesame-42", "f0e1d2c3b4a59687"


class Handler(BaseHTTPRequestHandler):
    """A server that gives, refuses, cuts short, waits and sends on."""

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        path, _, query = self.path.partition("?")
        login = self.headers.get("Authorization", "")
        code, body, headers = 200, MODEL.encode(), {}
        if path.startswith("/private"):
            code = 200 if base64.b64encode(f"me:{PASSWORD}".encode()).decode() in login else 401
        elif path.startswith("/signed"):
            code = 200 if SIGNATURE in query else 403
        elif path.startswith("/away"):
            code, headers = 302, {"Location": "http://elsewhere.example/forest.csv?token=abcdefghijkl"}
        elif path.startswith("/near"):
            code, headers = 302, {"Location": "/preds/forest.csv"}
        elif path.startswith("/slow"):
            time.sleep(1.0)
        elif path.startswith("/error"):
            code, body = 500, f"password {PASSWORD}".encode()
        elif not path.startswith(("/preds", "/cut")):
            code = 404
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) * (2 if path.startswith("/cut") else 1)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[ThreadingHTTPServer]:
    """Serve on loopback; ``asked`` lists what was asked for."""
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    httpd.asked = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=httpd.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield httpd
    httpd.shutdown()
    httpd.server_close()
    thread.join()


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadingHTTPServer]:
    """Run one server for all tests."""
    with serving(Handler) as httpd:
        yield httpd


@pytest.fixture
def web(server: ThreadingHTTPServer) -> Iterator[str]:
    """Give the host and port of the server."""
    server.asked.clear()  # type: ignore[attr-defined]
    yield f"127.0.0.1:{server.server_port}"
    forget()


def test_a_web_address_is_read(web: str) -> None:
    """Its last part names the model; the record holds the address without login and parameters."""
    found = load([f"http://{web}/preds/forest.csv?v=1", f"http://{web}/preds/big%20tree.csv"])
    assert [model.name for model in found.models] == ["big tree", "forest"]
    assert [r.path for r in found.inputs] == [
        f"http://{web}/preds/big%20tree.csv",
        f"http://{web}/preds/forest.csv",
    ]


def test_truth_at_an_address(web: str, tmp_path: Path) -> None:
    """Its name stands in the options, its address among the inputs; no parameter in either."""
    (tmp_path / "forest.csv").write_text(
        "\n".join(line.replace(",", ",x,", 0) for line in MODEL.splitlines())
    )
    truth = f"http://{web}/preds/truth.csv?sig={SIGNATURE}"
    code = main(
        [
            "run",
            str(tmp_path),
            "--truth",
            truth,
            "-f",
            "json",
            "-o",
            str(tmp_path / "out"),
            "-q",
            "--resamples",
            "50",
        ]
    )
    text = (tmp_path / "out/results.json").read_text()
    content = json.loads(text)
    assert code == 0
    assert content["options"]["truth"] == "truth.csv"
    assert f"http://{web}/preds/truth.csv" in [row["path"] for row in content["inputs"]]
    assert SIGNATURE not in text


def test_no_secret_is_printed_or_written(
    web: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither password nor signature stands in any output of a run that works, nor in a message of one that fails."""
    good = [
        f"http://me:{PASSWORD}@{web}/private/forest.csv",
        f"http://{web}/signed/knn.csv?X-Amz-Signature={SIGNATURE}",
    ]
    out = tmp_path / "out"
    assert main(["run", *good, "-f", "json,md,html", "-o", str(out), "--resamples", "50", "-v"]) == 0
    written = "".join(path.read_text(errors="replace") for path in out.rglob("*") if path.is_file())
    assert main(["run", f"http://me:{PASSWORD}x@{web}/private/forest.csv"]) == 2
    assert main(["check", f"http://{web}/nothing/forest.csv?sig={SIGNATURE}&other={PASSWORD}"]) == 2
    assert main(["run", f"http://me:{PASSWORD}@{web}/error/forest.csv"]) == 2
    printed = "".join(capsys.readouterr())
    for secret in (PASSWORD, SIGNATURE):
        assert secret not in written
        assert secret not in printed


@pytest.mark.parametrize(
    "path, problem",
    [
        ("/nothing/forest.csv", r"no such file.* \(HTTP 404\)"),
        ("/private/forest.csv", r"right credentials \(HTTP 401\)"),
        ("/signed/forest.csv", r"right credentials \(HTTP 403\)"),
        ("/error/forest.csv", r"cannot be read \(HTTP 500\)"),
        ("/cut/forest.csv", "ended before the whole file"),
        ("/slow/forest.csv", "did not answer in time"),
        ("/away/forest.csv", "sends on to http://elsewhere.example, and only addresses that you named"),
        ("/preds/", "names one file"),
        ("/preds/*.csv", "names one file"),
        ("/preds/model.pkl", "can run code"),
    ],
)
def test_an_address_that_cannot_be_read(
    web: str, path: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One message with the address, what happened and what to do."""
    monkeypatch.setattr(addresses, "ANSWERING", 0.3)
    with pytest.raises(InputError, match=problem) as caught:
        load(f"http://{web}{path}")
    assert caught.value.remedy
    assert str(caught.value.file).startswith(f"http://{web}{path}")
    assert "token" not in str(caught.value)


def test_a_redirection_on_the_same_server_is_followed(web: str) -> None:
    """The file is on the server that the user named."""
    assert load(f"http://{web}/near/forest.csv").n == 40


def test_no_server_and_no_tls(web: str) -> None:
    """A refused connection, a host that is not there, and a server without TLS."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for address, problem in (
        (f"http://127.0.0.1:{port}/forest.csv", "cannot be reached"),
        ("http://nowhere.invalid/forest.csv", "cannot be reached"),
        (f"https://{web}/preds/forest.csv", "certificate"),
    ):
        with pytest.raises(InputError, match=problem):
            load(address)


@pytest.mark.parametrize(
    "address, problem",
    [
        ("hdfs://host/preds", "addresses of this kind are not read"),
        ("https://me:pass/word@host/a.csv", "host cannot be read"),
        ("https:///a.csv", "host cannot be read"),
        ("s3://bucket/a.csv?acl=x", "not acl"),
    ],
)
def test_an_address_that_cannot_be_understood(address: str, problem: str) -> None:
    """No part of it is sent anywhere, and no password is said."""
    with pytest.raises(Exception, match=problem) as caught:
        load(address)
    assert caught.type.__name__ in ("InputError", "UsageError")
    assert "pass/word" not in str(caught.value)
    forget()


def test_an_address_as_a_path_is_an_address() -> None:
    """A Path loses a slash: that is said rather than that there is no such file."""
    with pytest.raises(InputError, match="two slashes"):
        load(Path("https://host.example/forest.csv"))


def test_nothing_else_is_asked_for(web: str, server: ThreadingHTTPServer, tmp_path: Path) -> None:
    """What stands in a file or in evalreport.toml beside it fetches nothing; verify asks only below what was named."""
    hostile = "id,y_true,y_pred,url\n" + "".join(f"e{i},{i % 2},1,http://{web}/x\n" for i in range(4))
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "forest.csv").write_text(hostile)
    (folder / "evalreport.toml").write_text(f'[evalreport]\ntruth = "http://{web}/preds/truth.csv"\n')
    assert main(["check", str(folder)]) == 2
    (folder / "evalreport.toml").unlink()
    out = tmp_path / "out"
    assert main(["run", f"http://{web}/preds/forest.csv", "-f", "json", "-o", str(out), "-q"]) == 0
    server.asked.clear()  # type: ignore[attr-defined]
    assert main(["verify", str(out), "--inputs", str(folder)]) == 1  # another forest.csv
    assert server.asked == []  # type: ignore[attr-defined]
    content = json.loads((out / "results.json").read_text())
    record = content["inputs"][0]
    for paths in (["http://127.0.0.1:9/../../secret"], ["a.csv", "a.csv/b.csv"], ["x" * 300 + "/a.csv"]):
        content["inputs"] = [{**record, "path": path} for path in paths]
        (out / "results.json").write_text(json.dumps(content))
        assert main(["verify", str(out), "--inputs", f"http://{web}/preds"]) == 2
    assert all(path.startswith("/preds/") for path in server.asked)  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_run_from_an_address_is_verified(web: str, tmp_path: Path) -> None:
    """At the address above, and in a folder of copies."""
    out = tmp_path / "out"
    named = [f"http://{web}/preds/{model}.csv" for model in ("forest", "knn")]
    assert main(["run", *named, "-f", "json", "-o", str(out), "-q", "--resamples", "50"]) == 0
    assert main(["verify", str(out), "--inputs", f"http://{web}/preds/"]) == 0
    for model in ("forest", "knn"):
        (tmp_path / f"{model}.csv").write_text(MODEL)
    assert main(["verify", str(out), "--inputs", str(tmp_path)]) == 0
    assert main(["verify", str(out), "--inputs", f"http://{web}/gone/"]) == 2


# --- buckets --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def s3() -> Iterator[tuple[str, str]]:
    """Run an S3-like server with two models in three layouts; give the login and the options of its addresses."""
    server_of = pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    server = server_of.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    client = boto3.client(
        "s3",
        endpoint_url=f"http://{host}:{port}",
        aws_access_key_id="AKIATESTKEY000000001",
        aws_secret_access_key=PASSWORD,
        region_name="us-east-1",
    )
    client.create_bucket(Bucket="predictions")
    halves = MODEL.splitlines()
    for model in ("forest", "große eiche"):
        for part, lines in enumerate((halves[1:20], halves[20:])):
            body = "\n".join([halves[0], *lines]).encode()
            client.put_object(Bucket="predictions", Key=f"night/{model}/part-{part}.csv", Body=body)
            client.put_object(
                Bucket="predictions", Key=f"hive/model={model}/day={part}/part-0.csv", Body=body
            )
        client.put_object(Bucket="predictions", Key=f"night/{model}/_SUCCESS", Body=b"")
        client.put_object(Bucket="predictions", Key=f"flat/{model}.csv", Body=MODEL.encode())
    yield (
        f"AKIATESTKEY000000001:{PASSWORD}@",
        f"?endpoint_override={host}:{port}&scheme=http&region=us-east-1",
    )
    server.stop()
    forget()


@pytest.mark.parametrize(
    "path, files",
    [
        ("night", 4),
        ("night/", 4),
        ("night/*/*.csv", 4),
        ("hive", 4),
        ("flat", 2),
        ("flat/*.csv", 2),
        ("**/day=*/*", 4),
    ],
)
def test_layouts_in_a_bucket(s3: tuple[str, str], path: str, files: int) -> None:
    """They are those of folders; the records hold the address without key and options."""
    found = load(f"s3://{s3[0]}predictions/{path}{s3[1]}")
    assert [model.name for model in found.models] == (["forest", "große eiche"])
    assert len(found.inputs) == files
    assert all(r.path.startswith("s3://predictions/") and "?" not in r.path for r in found.inputs)


def test_a_bucket_is_verified(
    s3: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hive columns and parts as well; and neither key nor secret is printed or written."""
    login, options = s3
    out = tmp_path / "out"
    run = ["run", f"s3://{login}predictions/hive{options}", "-f", "json,md", "-o", str(out), "--slice", "day"]
    assert main([*run, "--resamples", "50", "-v"]) == 0
    assert main(["verify", str(out), "--inputs", f"s3://{login}predictions/hive/{options}", "-v"]) == 0
    printed = "".join(capsys.readouterr())
    written = "".join(path.read_text() for path in out.rglob("*") if path.is_file())
    assert "s3://predictions/hive/model=forest/day=0/part-0.csv" in written
    for secret in (PASSWORD, "AKIATESTKEY"):
        assert secret not in printed + written


@pytest.mark.parametrize(
    "path, problem",
    [
        ("nobucket/night", "no such file, folder or bucket"),
        ("predictions/nothing", "no such file, folder or bucket"),
        ("predictions/night/*/*.parquet", "no prediction file"),
    ],
)
def test_a_bucket_that_cannot_be_read(s3: tuple[str, str], path: str, problem: str) -> None:
    """One message with the address alone."""
    with pytest.raises(InputError, match=problem) as caught:
        load(f"s3://{s3[0]}{path}{s3[1]}")
    assert caught.value.file == f"s3://{path}"


@pytest.mark.slow
def test_a_bucket_without_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused connection is said in one message, and soon; the secret of the environment is not."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATESTKEY000000002")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", PASSWORD)
    monkeypatch.setattr(addresses, "CONNECTING", 1.0)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(InputError, match="cannot be reached"):
        load(f"s3://bucket/preds?endpoint_override=127.0.0.1:{port}&scheme=http&region=x", options=Options())
    forget()


@pytest.mark.slow
def test_a_bucket_of_google() -> None:
    """gs:// goes through pyarrow's file system as well: listed and copied from a server with that interface."""
    held = {f"preds/{model}/part-0.csv": MODEL.encode() for model in ("forest", "knn")}

    class Google(Handler):
        def do_GET(self) -> None:
            """Describe objects as the JSON interface of Cloud Storage does, or give one."""
            path, _, query = self.path.partition("?")
            asked, name = dict(parse_qsl(query)), unquote(path).partition("/o/")[2]
            described = [
                {
                    "kind": "storage#object",
                    "name": key,
                    "bucket": "b",
                    "size": str(len(body)),
                    "generation": "1",
                }
                for key, body in held.items()
                if key == name or (not name and key.startswith(asked.get("prefix", "")))
            ]
            found = described[0] if name and described else {"kind": "storage#objects", "items": described}
            body = held[name] if asked.get("alt") == "media" else json.dumps(found).encode()
            self.send_response(200 if described or not name else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with serving(Google) as server:
        options = f"?endpoint_override=127.0.0.1:{server.server_port}&scheme=http&anonymous=true"
        found = load(f"gs://b/preds{options}")
    assert [r.path for r in found.inputs] == ["gs://b/preds/forest/part-0.csv", "gs://b/preds/knn/part-0.csv"]
    assert [model.name for model in found.models] == ["forest", "knn"]


@pytest.mark.parametrize(
    ("body", "declared"), every(3, [("drip", 10_000), ("drip", None), ("endless", None), ("large", 10**15)])
)
def test_a_body_that_does_not_end_is_left(
    body: str, declared: int | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One that drips at the deadline of the whole; an endless one at the bound; a declared one at once."""
    monkeypatch.setattr(addresses, "ANSWERING", 0.3)
    monkeypatch.setattr(addresses, "MOST_BYTES", 200_000)

    class Endless(Handler):
        def do_GET(self) -> None:
            self.send_response(200)
            if declared is not None:
                self.send_header("Content-Length", str(declared))
            self.end_headers()
            piece = b"i" if body == "drip" else b"i" * 2**16
            try:
                for _ in range(400):
                    self.wfile.write(piece)
                    self.wfile.flush()
                    time.sleep(0.05 if body == "drip" else 0)
            except OSError:
                pass  # the reader has left

    began = time.monotonic()
    with serving(Endless) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}/preds/forest.csv"
        with pytest.raises(InputError, match="in time|no room"):
            load(address, options=Options())
    assert time.monotonic() - began < 10


@pytest.mark.slow
def test_what_stands_after_a_semicolon_is_hidden_like_a_query(
    web: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In messages, in records and in the model's name; the server is asked for the whole address."""
    predictions = load(f"http://{web}/preds;key={SIGNATURE}/forest.csv;v={PASSWORD}", options=Options())
    assert [model.name for model in predictions.models] == ["forest"]
    assert [record.path for record in predictions.inputs] == [f"http://{web}/preds/forest.csv"]
    assert main(["check", f"http://{web}/none;key={SIGNATURE}/forest.csv;v={PASSWORD}"]) == 2
    said = capsys.readouterr()
    assert SIGNATURE not in said.out + said.err
    assert PASSWORD not in said.out + said.err
