"""An honest statistical comparison of machine-learning models, from prediction files to a report.

>>> import evalreport as er
>>> results = er.evaluate(
...     {"forest": {"y_pred": [1, 0, 1, 1, 0, 1]}, "logreg": {"y_pred": [1, 0, 0, 1, 1, 1]}},
...     truth=[1, 0, 1, 1, 0, 0],
...     metrics="accuracy",
... )
>>> [(row.model, round(row.value, 3)) for row in results.metrics]
[('forest', 0.833), ('logreg', 0.5)]

Importing the package costs nothing: each function fetches what it needs when it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalreport.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from evalreport.config import Options
    from evalreport.data.available_analyses import Possible
    from evalreport.data.predictions import Predictions
    from evalreport.refit.plans import Backend, Plan
    from evalreport.refit.resampling import Resampled
    from evalreport.report import RenderOutcome
    from evalreport.results import Results

__all__ = ["Options", "Results", "__version__", "check", "evaluate", "load", "render", "resample"]

# Names that are shown here and live elsewhere, fetched on first use.
_ELSEWHERE = {"Options": "evalreport.config", "Results": "evalreport.results"}


def evaluate(
    source: Any,
    *,
    truth: Any = None,
    classes: Sequence[Any] | None = None,
    options: Options | None = None,
    jobs: int = 1,
    memory_limit: str | None = None,
    progress: Callable[[str, float], None] | None = None,
    **option_fields: Any,
) -> Results:
    """Compare models on their predictions and return every figure, test and verdict.

    Parameters
    ----------
    source
        A folder or file of predictions; several files; a mapping of each model's name to its predictions (an array,
        a data frame, or a mapping of columns such as ``y_pred`` and ``y_prob``); a data frame (pandas, polars,
        pyarrow, duckdb, Dask, PySpark) with a column ``model``; ``cv_results_`` of a search, or what
        ``cross_validate`` returned with its indices, also of several models by name. Rows are matched by a column
        ``id``, else by the labels of a pandas index; arrays, and frames without labels of their own, by position.
    truth
        The true labels or values where the source does not hold them: an array, a series, or a file's path.
    classes
        The labels of the columns of (n, K) probabilities, in their order (``model.classes_``); ``None``: the sorted
        labels of the truth, as scikit-learn has them.
    options
        What changes results; ``None`` means the defaults.
    jobs
        Threads to use; no figure depends on it.
    memory_limit
        Memory for reading and joining, such as "4GB"; what has no room lies on disk meanwhile. ``None``: a share
        of what this machine or container has. No figure depends on it.
    progress
        Called with the stage's name and the share done, in [0, 1].
    **option_fields
        Single fields of ``Options`` that replace those of ``options``, such as ``metrics=["f1"]``.

    Returns
    -------
    Results
        Flat lists of records, each of which opens as a data frame: ``pandas.DataFrame(results.metrics)``.

    Raises
    ------
    UsageError
        An option that is unknown, out of its range, or that the data cannot serve.
    InputError
        Bad input: what, where, what was expected and what to do.

    Examples
    --------
    >>> import evalreport as er
    >>> labels = {"forest": {"y_pred": [1, 0, 1, 1]}, "logreg": {"y_pred": [0, 0, 1, 0]}}
    >>> results = er.evaluate(labels, truth=[1, 0, 1, 0], metrics=["accuracy"], resamples=200, seed=1)
    >>> [(row.a, row.b, row.difference) for row in results.comparisons if row.recommended]
    [('forest', 'logreg', 0.0)]
    """
    from evalreport import data
    from evalreport.audit.gates import judge
    from evalreport.config import memory_bytes
    from evalreport.pipeline import evaluate as analyse

    settled, values = _settle(options, truth, option_fields)
    limit = memory_bytes(memory_limit)
    if progress is not None:
        progress("reading and checking", 0.0)
    predictions = data.load(source, options=settled, truth=values, classes=classes, memory_limit=limit)
    results = analyse(predictions, options=settled, jobs=jobs, progress=progress)
    return judge(results, settled.gates)


def render(results: Results, output: str | PathLike[str] = "evalreport-out", **fields: Any) -> RenderOutcome:
    """Write the report of the results into a folder, in one go: a failure leaves what was there.

    Parameters
    ----------
    results
        What ``evaluate`` returned.
    output
        The folder of the report.
    **fields
        Fields of ``evalreport.config.OutputOptions``, such as ``formats=["html"]`` or ``title="..."``.

    Returns
    -------
    RenderOutcome
        The paths written and what could not be made, with the reason.

    Raises
    ------
    UsageError
        An unknown field or a value that is not allowed.
    OutputError
        A format that was named and could not be made; the others were written.

    Examples
    --------
    >>> import tempfile
    >>> import evalreport as er
    >>> results = er.evaluate({"tree": {"y_pred": [1, 0, 1]}}, truth=[1, 0, 0], resamples=100)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     outcome = er.render(results, folder + "/report", formats=["json", "md"])
    ...     sorted(path.name for path in outcome.paths)
    ['results.json', 'summary.md']
    """
    from pathlib import Path

    from evalreport import report
    from evalreport.config import output_options

    settled = output_options({"output": Path(output), **fields})
    return report.render(results, settled.output, options=settled)


def load(
    source: Any,
    *,
    truth: Any = None,
    classes: Sequence[Any] | None = None,
    options: Options | None = None,
    memory_limit: str | None = None,
    **option_fields: Any,
) -> Predictions:
    """Read, align and validate predictions without analysing them; parameters and errors as ``evaluate``.

    Returns
    -------
    Predictions
        One validated table in canonical order.

    Raises
    ------
    UsageError, InputError
        As ``evaluate``.

    Examples
    --------
    >>> import evalreport as er
    >>> er.load({"tree": {"y_pred": ["yes", "no"]}}, truth=["yes", "yes"]).positive
    'yes'
    """
    from evalreport import data
    from evalreport.config import memory_bytes

    settled, values = _settle(options, truth, option_fields)
    limit = memory_bytes(memory_limit)
    return data.load(source, options=settled, truth=values, classes=classes, memory_limit=limit)


def check(
    source: Any,
    *,
    truth: Any = None,
    classes: Sequence[Any] | None = None,
    options: Options | None = None,
    memory_limit: str | None = None,
    **option_fields: Any,
) -> tuple[Possible, ...]:
    """Say which analyses the data allow, and for the others why not; parameters as ``evaluate``.

    Returns
    -------
    tuple of Possible
        One record an analysis: ``analysis``, ``possible``, ``reason`` and ``remedy``.

    Raises
    ------
    UsageError, InputError
        As ``evaluate``.

    Examples
    --------
    >>> import evalreport as er
    >>> survey = er.check({"tree": {"y_pred": [1, 0, 1]}}, truth=[1, 0, 0])
    >>> all(row.reason for row in survey if not row.possible)
    True
    """
    from evalreport import data

    predictions = load(
        source, truth=truth, classes=classes, options=options, memory_limit=memory_limit, **option_fields
    )
    return data.survey(predictions)


def resample(
    plan: Plan | str | PathLike[str],
    *,
    output: str | PathLike[str],
    seed: int | None = None,
    jobs: int | None = None,
    backend: Backend | None = None,
    scheduler: str | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Resampled:
    """Fit the estimators of a plan on its folds or samples, and write what they predict for ``evaluate``.

    This runs the code that the plan names. What was finished before an interruption is kept.

    Parameters
    ----------
    plan
        A TOML file, or a ``Plan`` of ``evalreport.refit.plans``.
    output
        A folder, or a file ending in .parquet, .csv or .csv.gz.
    seed, jobs, backend, scheduler
        Over those of the plan. The predictions depend on the seed alone.
    progress
        Called with the stage's name and the share done, in [0, 1].

    Returns
    -------
    Resampled
        The path of the predictions, the fits that failed with their tracebacks, and warnings.

    Raises
    ------
    UsageError
        A plan that cannot be carried out, or a library that is missing.
    InputError
        Examples that cannot be used.
    OutputError
        The predictions could not be written; the finished fits are kept.
    """
    from dataclasses import replace
    from pathlib import Path

    from evalreport.refit.plans import Plan, read_plan
    from evalreport.refit.resampling import resample as carry_out

    settled = plan if isinstance(plan, Plan) else read_plan(Path(plan))
    given: dict[str, Any] = {"seed": seed, "jobs": jobs, "backend": backend, "scheduler": scheduler}
    settled = replace(settled, **{name: value for name, value in given.items() if value is not None})
    return carry_out(settled, output=Path(output), progress=progress)


def _settle(options: Options | None, truth: Any, option_fields: dict[str, Any]) -> tuple[Options, Any]:
    """Return the validated options, and the true values where they were given as values."""
    from os import PathLike, fspath

    from evalreport.config import Options, with_fields

    if isinstance(truth, (str, PathLike)):
        option_fields, truth = {**option_fields, "truth": fspath(truth)}, None
    return with_fields(Options() if options is None else options, option_fields), truth


def __getattr__(name: str) -> Any:
    if name not in _ELSEWHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_ELSEWHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
