"""`evalreport import mlflow` from a database and a server: of one store that MLflow 3.17.2 wrote and served."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from evalreport.cli import main

DATA = Path(__file__).resolve().parents[1] / "data" / "imports" / "mlflow" / "3"
ANSWERS = json.loads((DATA / "store" / "server.json").read_text(encoding="utf-8"))
JUDGED = ("--model", "large", "--model", "small", "--outcome", "right/value")


@pytest.fixture
def imported(importing):
    """Import what MLflow wrote."""
    return partial(importing, "mlflow")


@pytest.fixture
def database(mlflow_stores: Path) -> Path:
    """The database of the first store."""
    return mlflow_stores / "store" / "mlflow.db"


class Server(BaseHTTPRequestHandler):
    """Answers the client as the server did, one run a page, and keeps what was asked."""

    asked: list[tuple[str, str | None]]
    answers = ANSWERS

    def do_GET(self) -> None:
        """Send a table, or say that there is none; traces with spans, where this server has them."""
        asked = parse_qs(urlsplit(self.path).query)
        if self.path.startswith("/get-artifact"):
            table = self.answers["tables"][asked["run_uuid"][0]]
            self._send(404 if table is None else 200, "{}" if table is None else table)
        elif "trace_ids" in asked and "spans" in self.answers:
            infos = {
                one["trace_id"]: one for found in self.answers["traces"].values() for one in found["traces"]
            }
            traces = [
                {**self.answers["spans"][name], "trace_info": infos[name]} for name in asked["trace_ids"]
            ]
            self._send(200, json.dumps({"traces": traces}))
        else:
            self._send(404, json.dumps({"error_code": "ENDPOINT_NOT_FOUND"}))

    def do_POST(self) -> None:
        """Search experiments, runs or traces."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("experiments/search"):
            found = self.answers["experiments"]
        elif self.path.endswith("runs/search"):
            page, runs = int(asked.get("page_token", 0)), self.answers["runs"]["runs"]
            runs = [run for run in runs if run["info"]["experiment_id"] in asked["experiment_ids"]]
            more = {"next_page_token": str(page + 1)} if page + 1 < len(runs) else {}
            found = {"runs": runs[page : page + 1], **more}
        else:
            found = self.answers["traces"][asked["filter"].split("'")[-2]]
            if "spansLocation" in asked["filter"]:
                stored = self.answers.get("spans", {})
                found = {"traces": [one for one in found.get("traces", []) if one["trace_id"] in stored]}
        self._send(200, json.dumps(found))

    def _send(self, code: int, text: str) -> None:
        self.asked.append((self.path, self.headers.get("Authorization")))
        self.send_response(code)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(mlflow_stores: Path) -> Iterator[str]:
    """The address of a server on this machine."""
    Server.asked = []
    with HTTPServer(("127.0.0.1", 0), Server) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.fixture
def changed(database: Path, tmp_path: Path) -> Path:
    """A copy of the database, to be changed."""
    return Path(shutil.copy(database, tmp_path / "mlflow.db"))


def change(path: Path, sql: str, *parameters: object) -> None:
    """Change a database."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(sql, parameters)
        connection.commit()


def test_judged_traces_of_a_database_are_rows(imported, database, mlflow_stores):
    """Runs by name; what a scorer said is the outcome; inputs, tags and what was expected keep their names."""
    code, said, rows = imported(f"sqlite:///{database}", *JUDGED)
    assert code == 0
    assert {row["model"] for row in rows} == {"large", "small"}
    assert len({row["id"] for row in rows}) == 12
    assert {row["passage"] for row in rows} == {f"p{n}" for n in range(4)}
    assert {row["topic"] for row in rows} == {"add", "carry"}
    assert "2 answers have no judgement" in said
    for row in rows:
        # The scorer of the fixture fails where 12 is expected.
        assert (row["outcome"] == "") == (row["expected_response"] == "12")
    # The questions are those of the table that the run of the same model logged, judged by the same rule.
    # A folder that holds the database of MLflow 3 beside its artifacts is that store.
    _, _, table = imported(mlflow_stores / "store", "--model", "large table", "--model", "small table")
    assert len(table) == 24
    for model in ("large", "small"):
        scores = {row["inputs"]: row["outcome"] for row in table if row["model"] == f"{model} table"}
        own = {
            row["question"].strip(): row["outcome"]
            for row in rows
            if row["model"] == model and row["outcome"]
        }
        assert len(own) == 11
        assert own == {question: scores[question] for question in own}


def test_what_people_judged_becomes_gold(imported, database):
    """Three traces of each run were judged by a person too, under the name of the scorer."""
    _, _, rows = imported(database, *JUDGED, "--gold", "right/human")
    assert [row["gold"] for row in rows if row["gold"]] == ["1.0"] * 6
    assert imported(database, *JUDGED, "--gold", "brief/human")[0] == 2


def test_a_server_gives_what_its_database_gives(imported, server, database):
    """Page by page; judged traces, and tables."""
    for words in (JUDGED, ("--model", "large table", "--model", "small table=tiny", "--id", "question_id")):
        _, _, stored = imported(database, *words)
        code, said, served = imported(server, *words)
        assert code == 0
        assert f"{server}, run " in said
        # The server shows 1,000 characters of the long question, so it goes by the tag of the trace.
        long = {row["id"] for row in stored if len(row.get("question", "")) > 1000}
        assert len(long) == (words is JUDGED)
        for row, other in zip(stored, served, strict=True):
            names = ("model", "outcome", "topic") if row["id"] in long else row
            assert {name: other.get(name) for name in names} == {name: row[name] for name in names}


def test_a_run_without_rows_is_told_the_line_that_logs_them(imported, database):
    """A plain evaluation logs metrics only; the line that the message gives was run for the fixture, and is read."""
    code, said, _ = imported(database, "--model", "large plain")
    assert code == 2
    assert "no rows were logged by large plain" in said
    assert 'mlflow.log_table(data.assign(prediction=answers), "eval_results_table.json")' in said
    code, _, rows = imported(database, "--model", "large logged", "--model", "small logged")
    assert (code, len(rows), rows[0]["y_true"]) == (0, 8, "0")


def test_of_a_whole_store_the_runs_that_were_judged_so_are_read(imported, tmp_path, database):
    """`--outcome` alone chooses: the others are named, and evalreport reads the result."""
    code, said, rows = imported(database, "--outcome", "brief/value")
    assert (code, {row["model"] for row in rows}) == (0, {"large", "small"})
    assert "left out" in said
    assert "large plain" in said
    words = ["run", str(tmp_path / "predictions.csv"), "-o", str(tmp_path / "out"), "-f", "json", "-q"]
    assert main([*words, "--cluster", "passage", "--slice", "topic", "--resamples", "50"]) == 0


def test_runs_of_the_same_name_are_told_apart_by_their_ids(imported, changed):
    """A run was repeated under its name: refused, with the ids."""
    change(changed, "UPDATE runs SET name = 'large' WHERE name = 'small'")
    code, said, _ = imported(changed, *JUDGED[:2], *JUDGED[4:])
    assert code == 2
    assert "2 runs are called 'large'" in said
    run = said.split("--model ")[1].split("=")[0]
    code, _, rows = imported(changed, "--model", f"{run}=one", *JUDGED[4:])
    assert (code, {row["model"] for row in rows}) == (0, {"one"})


def test_deleted_runs_and_other_experiments_are_left_out(imported, changed):
    """What was deleted in MLflow is not read; an experiment that is not there is said."""
    change(changed, "UPDATE runs SET lifecycle_stage = 'deleted' WHERE name = 'small'")
    _, _, rows = imported(changed, "--outcome", "right/value", "--experiment", "answers")
    assert {row["model"] for row in rows} == {"large"}
    assert "there is no run in the experiment 'none'" in imported(changed, "--experiment", "none")[1]


def test_inputs_that_are_cut_match_nothing(imported, changed):
    """Without MLflow's digest, a question of a thousand characters may be another than it looks."""
    change(changed, "DELETE FROM trace_tags WHERE key = 'mlflow.eval.requestId'")
    code, _, rows = imported(changed, *JUDGED)
    assert (code, len({row["id"] for row in rows})) == (0, 12)
    change(changed, "UPDATE trace_info SET request_preview = ?", "x" * 1000)
    assert len({row["id"] for row in imported(changed, *JUDGED)[2]}) == 12
    change(changed, "DELETE FROM spans")
    code, said, _ = imported(changed, *JUDGED)
    assert code == 2
    assert "the inputs of a trace are cut" in said


def test_a_database_is_only_read(imported, tmp_path, database, mlflow_stores):
    """Its bytes stay, nothing is left beside it; what is no database, or not of MLflow, is said."""
    before = database.read_bytes()
    assert imported(database, *JUDGED)[0] == 0
    assert database.read_bytes() == before
    assert sorted(path.name for path in (mlflow_stores / "store").iterdir()) == [
        "mlflow.db",
        "mlruns",
        "server.json",
    ]
    (tmp_path / "text.db").write_text("no database, but long enough to be taken for one " * 30)
    change(tmp_path / "other.db", "CREATE TABLE a (b)")
    for name, problem in (
        ("none.db", "there is no such database"),
        ("text.db", "file is not a database"),
        ("other.db", "attempt to write a readonly database"),
    ):
        code, said, _ = imported(f"sqlite:///{tmp_path / name}")
        assert code == 2
        assert name in said
        assert problem in said


def test_a_database_without_end_is_refused(imported, changed):
    """A view in the place of a table may have rows without end."""
    change(changed, "ALTER TABLE runs RENAME TO real_runs")
    endless = (
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT real_runs.* FROM real_runs, c"
    )
    change(changed, "CREATE VIEW runs AS " + endless)
    code, said, _ = imported(changed, *JUDGED)
    assert code == 2
    assert "runs is not a plain table" in said


def test_a_password_is_sent_and_never_shown(imported, server, monkeypatch):
    """Of the address, else of the variables that MLflow reads."""
    address = server.replace("http://", "http://me:open-sesame@")
    _, said, _ = imported(address, *JUDGED)
    assert {how for _, how in Server.asked} == {"Basic bWU6b3Blbi1zZXNhbWU="}
    assert "sesame" not in said
    Server.asked.clear()
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "swordfish-token")
    imported(server, *JUDGED)
    assert {how for _, how in Server.asked} == {"Bearer swordfish-token"}


def test_what_is_no_server_of_mlflow_is_said(imported, server, monkeypatch):
    """Nobody listens; another program answers; the server refuses."""
    code, said, _ = imported("http://127.0.0.1:1")
    assert code == 2
    assert "MLflow's client cannot read it (API request to http://127.0.0.1:1/" in said
    monkeypatch.setattr(Server, "_send", lambda self, *_: self.send_error(403))
    code, said, _ = imported(server)
    assert code == 2
    assert "error code 403" in said
    assert "MLFLOW_TRACKING_TOKEN" in said
    for answer in ("[]", "<html>"):

        def other(self: Server, _code: int, _text: str, answer: str = answer) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer.encode())

        monkeypatch.setattr(Server, "_send", other)
        code, said, _ = imported(server)
        assert code == 2
        assert "MLflow's client cannot read it" in said
        assert len(said.splitlines()) == 1


def test_questions_are_matched_by_their_inputs_whatever_the_tag_of_a_trace(imported, changed):
    """With ``predict_fn`` MLflow gives each trace of each run a random text; runs are then matched all the same."""
    _, _, wanted = imported(changed, *JUDGED)
    change(changed, "UPDATE trace_tags SET value = hex(randomblob(16)) WHERE key = 'mlflow.eval.requestId'")
    code, said, rows = imported(changed, *JUDGED)
    assert code == 0
    assert "digest of the inputs" in said
    assert rows == wanted


@pytest.mark.parametrize(
    "experiment, outcome, names",
    [
        ("function", "right/value", {"messages", "temperature", "expected_response"}),
        ("traces", "right/value", {"question", "expected_response"}),
        ("people", "correct/human", {"question"}),
    ],
)
def test_what_evaluate_can_be_given(experiment, outcome, names, imported, server, monkeypatch, mlflow_stores):
    """A function, traces that were made before the run, people's feedback: the same of database and server.

    MLflow shows the last message of a chat, which is the same for all six questions, and cuts one that is longer.
    """
    code, said, rows = imported(mlflow_stores / "ways" / "mlflow.db", "--experiment", experiment)
    assert (code, len(rows), len({row["id"] for row in rows})) == (0, 12, 6)
    assert f"outcome: {outcome}" in said
    assert names == set(rows[0]) - {"model", "id", "outcome", "latency"}
    rights = {
        model: [row["outcome"] for row in rows if row["model"] == model] for model in ("large", "small")
    }
    # The questions on which the rule of make_mlflow.py lets each model err are two of the six.
    assert {model: own.count("1.0") for model, own in rights.items()} == {"large": 4, "small": 4}
    monkeypatch.setattr(
        Server, "answers", json.loads((DATA / "ways" / "server.json").read_text(encoding="utf-8"))
    )
    code, _, served = imported(server, "--experiment", experiment)
    assert (code, served) == (0, rows)


def test_inputs_that_an_older_server_cuts_match_nothing(imported, server, monkeypatch, mlflow_stores):
    """MLflow's own id of a trace is a random text where a function was evaluated."""
    answers = json.loads((DATA / "ways" / "server.json").read_text(encoding="utf-8"))
    del answers["spans"]
    monkeypatch.setattr(Server, "answers", answers)
    code, said, _ = imported(server, "--experiment", "function")
    assert code == 2
    assert "the inputs of a trace are cut" in said
    assert "name the database" in said


def test_judgements_of_another_run_are_left_out(imported, tmp_path, mlflow_stores):
    """Two runs may evaluate the same traces."""
    path = Path(shutil.copy(mlflow_stores / "ways" / "mlflow.db", tmp_path / "mlflow.db"))
    _, _, wanted = imported(path, "--experiment", "traces")
    with closing(sqlite3.connect(path)) as connection:
        given = connection.execute("SELECT * FROM assessments WHERE assessment_type = 'feedback'")
        names = [column[0] for column in given.description]
        for row in given.fetchall():
            other = dict(zip(names, row, strict=True)) | {"value": "false"}
            other["assessment_id"] += "x"
            other["created_timestamp"] += 1
            other["assessment_metadata"] = json.dumps({"mlflow.assessment.sourceRunId": "another"})
            marks = ", ".join("?" * len(names))
            connection.execute(f"INSERT INTO assessments VALUES ({marks})", list(other.values()))  # noqa: S608
        connection.commit()
    assert imported(path, "--experiment", "traces")[2] == wanted


def test_without_the_client_the_extra_is_named(imported, monkeypatch, tmp_path):
    """Of a database and a server alike; tables in files need no client."""
    monkeypatch.setitem(sys.modules, "mlflow", None)
    (tmp_path / "mlflow.db").touch()
    for source in (tmp_path / "mlflow.db", "http://127.0.0.1:1"):
        code, said, _ = imported(source)
        assert code == 2
        assert "install evalreport with its extra mlflow" in said
        assert len(said.splitlines()) == 1


def test_a_file_store_with_traces_is_told_how_to_move(imported, tmp_path):
    """MLflow 3 gives up its file store, and has a command that makes a database of it."""
    (tmp_path / "mlruns/1/traces/tr-1").mkdir(parents=True)
    code, said, _ = imported(tmp_path / "mlruns")
    assert code == 2
    assert "mlflow migrate-filestore" in said


PRICES = {"large": 3e-6, "small": 0.25e-6}
"""Dollars for a token of the question in make_mlflow.py; four times as much for one of the answer."""


@pytest.mark.parametrize("served", [False, True])
def test_costs_are_those_of_all_calls_of_a_trace(imported, server, monkeypatch, served, mlflow_stores):
    """By hand: two calls of 100 + 10 n tokens and 20 of the answer in all, each n + 1 hundredths of a second."""
    monkeypatch.setattr(
        Server, "answers", json.loads((DATA / "costs" / "server.json").read_text(encoding="utf-8"))
    )
    code, said, rows = imported(
        server if served else mlflow_stores / "costs" / "mlflow.db", "--experiment", "costs"
    )
    assert code == 0
    assert "costs of each answer: cost, latency, tokens" in said
    assert (len(rows), len({row["id"] for row in rows})) == (16, 8)
    for row in rows:
        n = int(row["question"].split()[0])
        assert float(row["tokens"]) == 120 + 10 * n
        assert float(row["cost"]) == pytest.approx(PRICES[row["model"]] * (180 + 10 * n), rel=1e-9)
        assert float(row["latency"]) >= 2 * (n + 1) / 100 - 0.002
