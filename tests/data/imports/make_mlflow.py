"""Write mlflow/: evaluation tables as MLflow itself writes them, of two scripted models.

Run once in an environment with ``pip install mlflow==2.22.5`` and once with ``mlflow==3.17.2 scikit-learn``: each
writes a folder of its version, with its file store's layout cut down to what names a run (``tags/mlflow.runName``)
and the table (``artifacts/eval_results_table.json``). MLflow 3 also evaluates with ``mlflow.genai``, whose table is no
artefact: it is saved here by pandas. Its database (``store/mlflow.db``, cut down to what is about runs, traces and
judgements, without folders of the machine) and what its server answers (``store/server.json``) are of one store;
``ways`` is another of what ``mlflow.genai.evaluate`` can be given, and ``costs`` one of a function whose calls of
models are traced with their tokens and costs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

os.environ |= {"MLFLOW_ALLOW_FILE_STORE": "true", "MLFLOW_DISABLE_TELEMETRY": "true"}

import mlflow
import numpy as np
import pandas as pd
from mlflow.metrics import MetricValue, make_metric

MAJOR = mlflow.__version__.split(".")[0]
OUTPUT = Path(__file__).resolve().parent / "mlflow" / MAJOR
ERRORS = {"large": 0.15, "small": 0.4}


def wrong(model: str, text: str) -> bool:
    """Say whether a model errs on a question: a digest decides."""
    return int(hashlib.sha256(f"{model} {text}".encode()).hexdigest()[:8], 16) / 16**8 < ERRORS[model]


def questions(model: str) -> pd.DataFrame:
    """Return sums with a model's answers."""
    rows = [(f"q{n}", f"{n} + {n * n % 7}", n, n * n % 7) for n in range(30)]
    return pd.DataFrame(
        {
            "question_id": [row[0] for row in rows],
            "inputs": [row[1] for row in rows],
            "ground_truth": [str(row[2] + row[3]) for row in rows],
            "outputs": [str(row[2] + row[3] + wrong(model, row[1])) for row in rows],
        }
    )


def exact_match() -> object:
    """Return a metric that gives each row a score."""

    def score(predictions, targets, metrics=None):
        scores = [float(p == t) for p, t in zip(predictions, targets, strict=True)]
        return MetricValue(scores=scores, aggregate_results={"mean": float(np.mean(scores))})

    return make_metric(eval_fn=score, greater_is_better=True, name="exact_match")


def evaluate(**given) -> None:
    """Evaluate a table, with the function that this version has for it."""
    function = mlflow.models.evaluate if hasattr(mlflow.models, "evaluate") else mlflow.evaluate
    function(evaluators="default", extra_metrics=[exact_match()], **given)


def tables(store: Path) -> None:
    """Evaluate answers, and labels of a classifier whose rows have no id."""
    mlflow.set_tracking_uri(f"file://{store}")
    for model in ERRORS:
        data = questions(model)
        with mlflow.start_run(run_name=model):
            evaluate(data=data, targets="ground_truth", predictions="outputs")
        # The same inputs stand in two rows: they are told apart by their order.
        labels = pd.DataFrame({"x": [n // 2 / 4 for n in range(24)]})
        labels["target"] = (labels["x"] > 1.4).astype(int)
        labels["prediction"] = [t ^ wrong(model, str(n)) for n, t in enumerate(labels["target"])]
        with mlflow.start_run(run_name=f"{model} classifier"):
            evaluate(data=labels, targets="target", predictions="prediction", model_type="classifier")


def genai(folder: Path) -> None:
    """Evaluate the answers by mlflow.genai: a scorer that says true or false, and one that says yes or no."""
    from mlflow.genai.scorers import scorer

    @scorer
    def right(outputs, expectations):
        return outputs == expectations["expected_response"]

    @scorer
    def judged(outputs, expectations):
        return "yes" if outputs == expectations["expected_response"] else "no"

    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    for model in ERRORS:
        rows = questions(model).itertuples()
        data = [
            {
                "inputs": {"question": row.inputs},
                "outputs": row.outputs,
                "expectations": {"expected_response": row.ground_truth},
            }
            for row in rows
        ]
        with mlflow.start_run(run_name=model):
            result = mlflow.genai.evaluate(data=data, scorers=[right, judged])
        frame = result.result_df
        place = OUTPUT / "genai" / f"{model}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        # The rest names folders of this machine.
        left_out = ["trace", "spans", "assessments", "tags", "trace_metadata"]
        frame.drop(columns=left_out).to_json(place, orient="split", index=False, default_handler=str)


def store(folder: Path) -> None:
    """Keep a database with judged traces, tables and a run without rows, and what the server says of it."""
    from mlflow.entities import AssessmentSource
    from mlflow.genai.scorers import scorer

    @scorer
    def right(outputs, expectations):
        if expectations["expected_response"] == "12":
            raise ValueError("the judge is down")
        return outputs == expectations["expected_response"]

    @scorer
    def brief(outputs):
        return len(outputs) < 2

    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    mlflow.set_experiment("answers")
    for model in ERRORS:
        data = questions(model).head(12)
        rows = [
            {
                # The last question is longer than what MLflow shows of a trace.
                "inputs": {"question": row.inputs + " " * 1200 * (n == 11), "passage": f"p{n // 3}"},
                "outputs": row.outputs,
                "expectations": {"expected_response": row.ground_truth},
                "tags": {"topic": ("add", "carry")[n % 2]},
            }
            for n, row in enumerate(data.itertuples())
        ]
        with mlflow.start_run(run_name=model):
            result = mlflow.genai.evaluate(data=rows, scorers=[right, brief])
        for trace in sorted(result.result_df["trace_id"])[:3]:
            person = AssessmentSource(source_type="HUMAN", source_id="reader")
            mlflow.log_feedback(trace_id=trace, name="right", value=True, source=person)
        with mlflow.start_run(run_name=f"{model} table"):
            evaluate(data=data, targets="ground_truth", predictions="outputs")
        with mlflow.start_run(run_name=f"{model} plain"):
            labels = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "target": [0, 1, 1, 0]})
            answers = [n % 2 for n in range(4)]
            frame = labels.assign(prediction=answers)
            mlflow.models.evaluate(
                data=frame, targets="target", predictions="prediction", model_type="classifier"
            )
        with mlflow.start_run(run_name=f"{model} logged"):
            # The line that the message of evalreport recommends.
            mlflow.log_table(labels.assign(prediction=answers), "eval_results_table.json")
    keep_store(folder, OUTPUT / "store")


def ways(folder: Path) -> None:
    """Keep a database of what ``mlflow.genai.evaluate`` is given: a function, traces, and people's feedback."""
    from mlflow.entities import AssessmentSource
    from mlflow.genai.scorers import scorer

    @scorer
    def right(outputs, expectations):
        return outputs == expectations["expected_response"]

    def evaluate_all(model: str) -> None:
        rows = list(questions(model).head(6).itertuples())
        answers = {row.inputs: row.outputs for row in rows}

        def chat(messages, temperature):
            return answers[messages[0]["content"].strip()]

        @mlflow.trace(name="app")
        def app(question):
            return answers[question]

        def traced(row) -> str:
            app(row.inputs)
            mlflow.flush_trace_async_logging()
            return mlflow.get_last_active_trace_id()

        # Messages of which MLflow shows the last, which is the same in all; and one longer than what it shows.
        asked = [
            {
                "inputs": {
                    "messages": [
                        {"role": "user", "content": row.inputs + " " * 1200 * (n == 5)},
                        {"role": "user", "content": "A number only."},
                    ],
                    "temperature": 0.0,
                },
                "expectations": {"expected_response": row.ground_truth},
            }
            for n, row in enumerate(rows)
        ]
        mlflow.set_experiment("function")
        with mlflow.start_run(run_name=model):
            mlflow.genai.evaluate(data=asked, predict_fn=chat, scorers=[right])
        mlflow.set_experiment("traces")
        made = {traced(row): row for row in rows}
        for trace, row in made.items():
            mlflow.log_expectation(trace_id=trace, name="expected_response", value=row.ground_truth)
        found = [t for t in mlflow.search_traces(return_type="list") if t.info.trace_id in made]
        with mlflow.start_run(run_name=model):
            mlflow.genai.evaluate(data=found, scorers=[right])
        mlflow.set_experiment("people")
        with mlflow.start_run(run_name=model):
            for row in rows:
                person = AssessmentSource(source_type="HUMAN", source_id="reader")
                correct = row.outputs == row.ground_truth
                mlflow.log_feedback(trace_id=traced(row), name="correct", value=correct, source=person)

    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    for model in ERRORS:
        evaluate_all(model)
    keep_store(folder, OUTPUT / "ways")


PRICES = {"large": 3e-6, "small": 0.25e-6}
"""Dollars for a token of the question; four times as much for one of the answer."""


def costs(folder: Path) -> None:
    """Keep a database of answers with costs: two calls each, of 100 + 10 n tokens and 20 of the answer in all."""
    from mlflow.entities import SpanType
    from mlflow.genai.scorers import scorer

    @scorer
    def right(outputs, expectations):
        return outputs == expectations["expected_response"]

    def evaluate_one(model: str, price: float) -> None:
        rows = list(questions(model).head(8).itertuples())
        answers = {row.inputs: row.outputs for row in rows}

        @mlflow.trace(span_type=SpanType.CHAT_MODEL)
        def call(question: str) -> str:
            n = int(question.split()[0])
            asked, said = 50 + 5 * n, 10
            usage = {"input_tokens": asked, "output_tokens": said, "total_tokens": asked + said}
            cost = {"input_cost": price * asked, "output_cost": 4 * price * said}
            span = mlflow.get_current_active_span()
            # The first question is tried once without a trace.
            if span is not None:
                span.set_attribute("mlflow.chat.tokenUsage", usage)
                span.set_attribute("mlflow.llm.cost", cost | {"total_cost": sum(cost.values())})
            time.sleep((n + 1) / 100)
            return answers[question]

        @mlflow.trace
        def app(question: str) -> str:
            call(question)
            return call(question)

        data = [
            {"inputs": {"question": row.inputs}, "expectations": {"expected_response": row.ground_truth}}
            for row in rows
        ]
        with mlflow.start_run(run_name=model):
            mlflow.genai.evaluate(data=data, predict_fn=app, scorers=[right])

    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    mlflow.set_experiment("costs")
    for model, price in PRICES.items():
        evaluate_one(model, price)
    keep_store(folder, OUTPUT / "costs")


KEPT = (
    *("experiments", "runs", "assessments", "trace_info", "trace_request_metadata", "trace_tags", "spans"),
    "entity_associations",
)
KEPT_METADATA = ("mlflow.sourceRun", "mlflow.traceInputs", "mlflow.trace.tokenUsage", "mlflow.trace.cost")


def keep_store(folder: Path, place: Path) -> None:
    """Write the answers of the server, the tables, and the database without what only MLflow itself needs."""
    place.mkdir(parents=True, exist_ok=True)
    answers = json.dumps(server_answers(folder), indent=1)
    (place / "server.json").write_text(answers.replace(str(folder), "/store") + "\n", encoding="utf-8")
    for table in (folder / "mlruns").rglob("eval_results_table.json"):
        kept = place / table.relative_to(folder)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(table, kept)
    shutil.copyfile(folder / "mlflow.db", place / "mlflow.db")
    with contextlib.closing(sqlite3.connect(place / "mlflow.db", isolation_level=None)) as database:
        database.execute("PRAGMA foreign_keys = OFF")
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in tables:
            if name not in KEPT and not name.startswith("sqlite_"):
                database.execute(f"DROP TABLE {name}")
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'index'").fetchall():
            if not name.startswith("sqlite_"):
                database.execute(f"DROP INDEX {name}")
        database.execute("UPDATE runs SET artifact_uri = replace(artifact_uri, ?, '/store')", (str(folder),))
        database.execute("UPDATE experiments SET artifact_location = ''")
        database.execute("DELETE FROM trace_tags WHERE key LIKE '%ocation'")
        database.execute("UPDATE assessments SET error = 'ValueError' WHERE error IS NOT NULL")
        database.execute("DELETE FROM trace_request_metadata WHERE key NOT IN (?, ?, ?, ?)", KEPT_METADATA)
        database.execute("VACUUM")


def server_answers(folder: Path) -> dict[str, object]:
    """Ask a server of the store, on this machine alone, what evalreport asks."""
    port = "5917"
    command = [
        sys.executable,
        "-m",
        "mlflow",
        "server",
        "--host",
        "127.0.0.1",
        "--port",
        port,
        "--workers",
        "1",
    ]
    server = subprocess.Popen([*command, "--backend-store-uri", f"sqlite:///{folder}/mlflow.db"])
    try:
        return asked(f"http://127.0.0.1:{port}")
    finally:
        server.terminate()
        server.wait()


def asked(address: str) -> dict[str, object]:
    """Return the answers by what was asked."""

    def answer(path: str, content: object = None) -> str | None:
        data = None if content is None else json.dumps(content).encode()
        kind = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{address}/{path}", data, kind)  # noqa: S310 - our own server
        try:
            with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310
                return response.read().decode()
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    for _ in range(600):
        with contextlib.suppress(OSError):
            answer("health")
            break
        time.sleep(0.5)
    experiments = json.loads(answer("api/2.0/mlflow/experiments/search", {"max_results": 10}))
    ids = [one["experiment_id"] for one in experiments["experiments"]]
    wanted = {"experiment_ids": ids, "order_by": ["attributes.start_time ASC"]}
    runs = json.loads(answer("api/2.0/mlflow/runs/search", wanted))
    for run in runs["runs"]:
        del run["data"], run["inputs"]
    found: dict[str, object] = {
        "experiments": experiments,
        "runs": runs,
        "traces": {},
        "spans": {},
        "tables": {},
    }
    for run in runs["runs"]:
        name = run["info"]["run_id"]
        found["tables"][name] = answer(f"get-artifact?path=eval_results_table.json&run_uuid={name}")
        place = {"experiment_id": run["info"]["experiment_id"]}
        search = {
            "locations": [{"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": place}],
            "filter": f"request_metadata.`mlflow.sourceRun` = '{name}'",
            "order_by": ["timestamp_ms ASC"],
        }
        traces = json.loads(answer("api/3.0/mlflow/traces/search", search))
        for trace in traces.get("traces", []):
            trace["trace_metadata"] = {
                key: value for key, value in trace["trace_metadata"].items() if key in KEPT_METADATA
            }
            for judged in trace.get("assessments", []):
                judged.get("feedback", {}).pop("error", None)
        found["traces"][name] = traces
        names = [("trace_ids", trace["trace_id"]) for trace in traces.get("traces", [])]
        whole = answer(f"api/3.0/mlflow/traces/batchGet?{urllib.parse.urlencode(names)}") if names else None
        for trace in [] if whole is None else json.loads(whole)["traces"]:
            info = {"trace_id": trace["trace_info"]["trace_id"]}
            found["spans"][info["trace_id"]] = {"trace_info": info, "spans": trace["spans"]}
    return found


def main() -> None:
    """Write the folder of this version."""
    shutil.rmtree(OUTPUT, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        store = Path(folder) / "mlruns"
        tables(store)
        for table in sorted(store.rglob("eval_results_table.json")):
            run = table.parents[1]
            for kept in (table, run / "tags" / "mlflow.runName"):
                place = OUTPUT / "mlruns" / kept.relative_to(store)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(kept, place)
        if MAJOR == "3":
            genai(Path(folder))
            (Path(folder) / "kept").mkdir()
            os.chdir(Path(folder) / "kept")
            store(Path(folder) / "kept")
            (Path(folder) / "ways").mkdir()
            os.chdir(Path(folder) / "ways")
            ways(Path(folder) / "ways")
            (Path(folder) / "costs").mkdir()
            os.chdir(Path(folder) / "costs")
            costs(Path(folder) / "costs")


if __name__ == "__main__":
    sys.exit(main())
