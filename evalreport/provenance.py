"""What makes a run reproducible: inputs, options, versions and the signature that stand in the results."""

from __future__ import annotations

import dataclasses
import hashlib
import platform
from importlib.metadata import version
from pathlib import PurePath

from evalreport.config import Options
from evalreport.data.predictions import Predictions
from evalreport.metrics.registry import Quantity
from evalreport.records import JsonObject
from evalreport.sources import without_login
from evalreport.version import __version__


def provenance(predictions: Predictions, primary: Quantity, options: Options) -> JsonObject:
    """Return the fields of the results that say what was analysed, by what and how."""
    return {
        "signature": signature(predictions, options),
        "options": plain_options(options),
        "task": predictions.task,
        "design": predictions.design,
        "n": predictions.n_examples,
        "classes": predictions.classes,
        "positive": predictions.positive,
        "suite": () if predictions.tasks is None else predictions.tasks.categories or (),
        "models": tuple(model.name for model in predictions.models),
        "primary_metric": primary.spelled,
        "baseline": options.baseline,
        "inputs": predictions.inputs,
        "environment": environment(),
    }


def plain_options(options: Options) -> JsonObject:
    """Return the options as they stand in results.json; of a truth file its name, since its digest is recorded."""
    plain = {key: list(v) if isinstance(v, tuple) else v for key, v in dataclasses.asdict(options).items()}
    if options.truth is not None:
        plain["truth"] = PurePath(without_login(options.truth)).name
    return plain


def signature(predictions: Predictions, options: Options) -> str:
    """Return one line that says what was computed from what."""
    joined = "\n".join(f"{record.path} {record.sha256}" for record in predictions.inputs)
    digest = hashlib.sha256(joined.encode()).hexdigest()[:16]
    return (
        f"evalreport {__version__}; {predictions.task}; {predictions.design}; n={predictions.n_examples};"
        f" models={len(predictions.models)}; resamples={options.resamples}; seed={options.seed};"
        f" confidence={options.confidence:g}; inputs={digest}"
    )


def environment() -> dict[str, str]:
    """Return the versions of what computed the figures."""
    libraries = ("numpy", "scipy", "duckdb")
    return {
        "evalreport": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in libraries},
    }
