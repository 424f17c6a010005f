"""What makes a run reproducible: its signature, options and environment."""

from __future__ import annotations

import dataclasses
import hashlib
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import PurePath

from evalreport.errors import without_login
from evalreport.options import RECORDED_PATHS, Options
from evalreport.predictions.table import Predictions
from evalreport.schema.inputs import JsonObject
from evalreport.version import __version__


def signature(predictions: Predictions, options: Options) -> str:
    """Return one line that identifies the version, the data and the options."""
    joined = "\n".join(f"{record.path} {record.sha256}" for record in predictions.inputs)
    digest = hashlib.sha256(joined.encode()).hexdigest()[:16]
    return (
        f"evalreport {__version__}; {predictions.task}; {predictions.design}; n={predictions.n_examples};"
        f" models={len(predictions.models)}; resamples={options.resamples}; seed={options.seed};"
        f" confidence={options.confidence:g}; inputs={digest}"
    )


def plain_options(options: Options) -> JsonObject:
    """Return the options as results.json has them; of files only the name: digests or contents are recorded."""
    plain = {key: list(v) if isinstance(v, tuple) else v for key, v in dataclasses.asdict(options).items()}
    for name in RECORDED_PATHS:
        path: str | None = getattr(options, name)
        if path is not None:
            plain[name] = PurePath(without_login(path)).name
    return plain


@cache
def environment() -> Mapping[str, str]:
    """Return the versions of evalreport, Python and the libraries."""
    libraries = ("numpy", "scipy", "duckdb")
    return {
        "evalreport": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in libraries},
    }
