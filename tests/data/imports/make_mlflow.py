"""Write mlflow/: evaluation tables as MLflow itself writes them, of two scripted models.

Run once in an environment with ``pip install mlflow==2.22.5`` and once with ``mlflow==3.17.2 scikit-learn``: each
writes a folder of its version, with its file store's layout cut down to what names a run (``tags/mlflow.runName``)
and the table (``artifacts/eval_results_table.json``). MLflow 3 also evaluates with ``mlflow.genai``, whose table is no
artefact: it is saved here by pandas.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
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


if __name__ == "__main__":
    sys.exit(main())
