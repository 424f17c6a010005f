"""An honest statistical comparison of machine-learning models, from prediction files to a report.

>>> import evalreport as er
>>> results = er.evaluate(
...     {"forest": {"y_pred": [1, 0, 1, 1, 0, 1]}, "logreg": {"y_pred": [1, 0, 0, 1, 1, 1]}},
...     truth=[1, 0, 1, 1, 0, 0],
...     metrics="accuracy",
... )
>>> [(row.model, round(row.value, 3)) for row in results.metrics]
[('forest', 0.833), ('logreg', 0.5)]

Importing the package takes no time: each function fetches what it needs when it is called.
"""

from __future__ import annotations

import os as _os
import sys as _sys
from functools import wraps as _wraps
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from evalreport.keywords import ReportKeywords, RunKeywords
from evalreport.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal, Unpack

    from matplotlib.figure import Figure

    from evalreport import errors, plots
    from evalreport.comparisons.study_design import Answer, Layout, Measure
    from evalreport.history.compare_runs import Compared
    from evalreport.options import AnyPath, Frame, Models, Options, Values
    from evalreport.predictions.possible_analyses import Possible
    from evalreport.predictions.table import Predictions
    from evalreport.refit.plans import Backend, Plan
    from evalreport.refit.resampling import Resampled
    from evalreport.report import RenderOutcome
    from evalreport.scale.aggregates import Aggregated
    from evalreport.schema.results import Results
    from evalreport.verify.recompute import Verification

__all__ = [
    "evaluate",
    "compare",
    "render",
    "load",
    "check",
    "resample",
    "aggregate",
    "compare_runs",
    "verify",
    "declare",
    "plan",
    "plots",
    "Results",
    "Options",
    "errors",
    "__version__",
]

# Names that are shown here and live elsewhere, fetched on first use: modules, and names in modules.
_ELSEWHERE = {
    "Options": "evalreport.options",
    "Results": "evalreport.schema.results",
    "errors": "evalreport.errors",
    "plots": "evalreport.plots",
}

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _public(*described: type) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Refuse keywords that a function does not take, with a suggestion, and document those of typed dictionaries."""

    def decorated(function: Callable[_P, _R]) -> Callable[_P, _R]:
        code = function.__code__
        known = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        for record in described:
            known += record.__annotations__

        @_wraps(function)
        def called(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            for name in kwargs:
                if name not in known:
                    from evalreport.errors import KeywordError
                    from evalreport.registry import unknown_name

                    raise KeywordError(f"{function.__name__}(): {unknown_name('keyword', name, known)}")
            return function(*args, **kwargs)

        called.__doc__ = _documented(function.__doc__ or "", described)
        return called

    return decorated


def _documented(text: str, described: tuple[type, ...]) -> str:
    """Add what typed dictionaries say of their keywords to a docstring, before what the function returns."""
    head, returns, rest = text.partition("Returns\n")
    indent = head.rpartition("\n")[2]  # none from Python 3.13 on
    for record in described:
        entries = (record.__doc__ or "").partition("\n\n")[2].rstrip()
        head += f"Other Parameters\n{indent}----------------\n{entries}\n\n{indent}"
    return head + returns + rest


@_public(RunKeywords)
def evaluate(
    models: Models,
    *,
    truth: Values | Frame | AnyPath | None = None,
    classes: Sequence[object] | None = None,
    options: Options | None = None,
    jobs: int = 1,
    memory_limit: str | None = None,
    engine: str | None = None,
    progress: Callable[[str, float], None] | None = None,
    **option_fields: Unpack[RunKeywords],
) -> Results:
    """Compare models on their predictions and return every figure, test and verdict.

    Parameters
    ----------
    models
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
        Options that were made before; the keywords below replace single ones. ``None`` means the defaults.
    jobs
        Threads to use; no figure depends on it.
    memory_limit
        Memory for reading and joining, such as "4GB"; the rest is kept on disk meanwhile. ``None``: a share
        of what this machine or container has. No figure depends on it.
    engine
        "dask=ADDRESS" or "spark=MASTER" count the labels of files there; ``None``: rows are read here.
    progress
        Called with the stage's name and the share done, in [0, 1].

    Returns
    -------
    Results
        Flat lists of records: ``results.to_frame("metrics")`` is one as a data frame, ``results.summary()`` says the
        whole as text, and ``plots`` draws it.

    Raises
    ------
    UsageError
        An option that is out of its range, or that the data cannot serve.
    TypeError
        A keyword that is none (also a UsageError).
    InputError
        Bad input, with its position, the expected value and the remedy.

    Examples
    --------
    >>> import evalreport as er
    >>> labels = {"forest": {"y_pred": [1, 0, 1, 1]}, "logreg": {"y_pred": [0, 0, 1, 0]}}
    >>> results = er.evaluate(labels, truth=[1, 0, 1, 0], metrics=["accuracy"], resamples=200, seed=1)
    >>> [(row.a, row.b, row.difference) for row in results.comparisons if row.recommended]
    [('forest', 'logreg', 0.0)]
    """
    from evalreport import analysis, extensions
    from evalreport.loading.load import load as load_predictions
    from evalreport.loading.load import settled_options
    from evalreport.options import memory_bytes

    settled, values = settled_options(options, truth, option_fields, models)
    limit = memory_bytes(memory_limit)
    elsewhere = None if engine is None else extensions.load("engine elsewhere")(engine)
    if progress is not None:
        progress("reading and checking", 0.0)
    predictions = load_predictions(
        models, options=settled, truth=values, classes=classes, memory_limit=limit, engine=elsewhere
    )
    looks = extensions.load("looks of a run")(settled)
    results = analysis.evaluate(
        predictions,
        options=settled,
        jobs=jobs,
        progress=progress,
        look_of=None if looks is None else looks.look,
    )
    criteria = extensions.load("criteria of a run")(settled, predictions)
    results = analysis.with_gates(results, settled, criteria and criteria.mark)
    if looks is not None:
        looks.keep(results)
    return results


@_public(RunKeywords)
def compare(
    y_true: Values,
    predictions: Mapping[str, Values],
    *,
    classes: Sequence[object] | None = None,
    jobs: int = 1,
    **option_fields: Unpack[RunKeywords],
) -> Results:
    """Compare models whose predictions are arrays in the order of the true values; nothing is matched by ids.

    Parameters
    ----------
    y_true
        The true labels or values.
    predictions
        Each model's array by its name: labels, numbers, probabilities of the positive class (n,) or of every class
        (n, K). Numbers within [0, 1] beside a truth of two values are probabilities.
    classes, jobs
        As ``evaluate`` takes them.

    Returns
    -------
    Results
        As ``evaluate``.

    Raises
    ------
    InputError
        An array of another length, a pandas index in another order, or bad values.

    Examples
    --------
    >>> import evalreport as er
    >>> truth = [1, 0, 1, 0, 1, 1, 0, 1]
    >>> results = er.compare(truth, {"forest": truth, "always": [1] * 8}, resamples=100)
    >>> [(row.model, row.value) for row in results.metrics if row.metric == "accuracy"]
    [('always', 0.625), ('forest', 1.0)]
    """
    from evalreport.sources.arrays import by_position

    truth, models = by_position(y_true, predictions)
    return evaluate(models, truth=truth, classes=classes, jobs=jobs, **option_fields)


@_public(ReportKeywords)
def render(
    results: Results, output: AnyPath = "evalreport-out", **fields: Unpack[ReportKeywords]
) -> RenderOutcome:
    """Write the report of the results into a folder, in one go: a failure leaves the old one.

    Parameters
    ----------
    results
        What ``evaluate`` returned.
    output
        The folder of the report.

    Returns
    -------
    RenderOutcome
        The paths written and what could not be made, with the reason.

    Raises
    ------
    UsageError
        A value that is not allowed.
    TypeError
        A keyword that is none (also a UsageError).
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
    from evalreport.options import output_options
    from evalreport.schema.results import Results

    if not isinstance(results, Results):
        raise TypeError(f"results must be the Results of a run, not {type(results).__name__}")
    settled = output_options({"output": Path(output), **fields})
    return report.render(results, settled.output, options=settled)


@_public(RunKeywords)
def load(
    models: Models,
    *,
    truth: Values | Frame | AnyPath | None = None,
    classes: Sequence[object] | None = None,
    options: Options | None = None,
    memory_limit: str | None = None,
    **option_fields: Unpack[RunKeywords],
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
    import evalreport.metrics  # noqa: F401 - registers what engines add up of scores
    from evalreport.loading.load import load as load_predictions
    from evalreport.loading.load import settled_options
    from evalreport.options import memory_bytes

    settled, values = settled_options(options, truth, option_fields, models)
    limit = memory_bytes(memory_limit)
    return load_predictions(models, options=settled, truth=values, classes=classes, memory_limit=limit)


@_public(RunKeywords)
def check(
    models: Models,
    *,
    truth: Values | Frame | AnyPath | None = None,
    classes: Sequence[object] | None = None,
    options: Options | None = None,
    memory_limit: str | None = None,
    **option_fields: Unpack[RunKeywords],
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
    from evalreport.predictions.possible_analyses import survey

    predictions = load(
        models, truth=truth, classes=classes, options=options, memory_limit=memory_limit, **option_fields
    )
    return survey(predictions)


@_public()
def resample(
    plan: Plan | AnyPath,
    *,
    output: AnyPath,
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
    from pathlib import Path

    from msgspec.structs import replace

    from evalreport.refit.plans import Plan, read_plan
    from evalreport.refit.resampling import resample as carry_out

    settled = plan if isinstance(plan, Plan) else read_plan(Path(plan))
    settled = replace(
        settled,
        seed=settled.seed if seed is None else seed,
        jobs=settled.jobs if jobs is None else jobs,
        backend=settled.backend if backend is None else backend,
        scheduler=settled.scheduler if scheduler is None else scheduler,
    )
    return carry_out(settled, output=Path(output), progress=progress)


@_public(RunKeywords)
def aggregate(
    models: Models,
    *,
    output: AnyPath,
    truth: AnyPath | None = None,
    engine: str = "duckdb",
    memory_limit: str | None = None,
    **option_fields: Unpack[RunKeywords],
) -> Aggregated:
    """Count predictions of any size, and write the counts into a folder that ``evaluate`` reads.

    Parameters
    ----------
    models
        Files, or lazy frames of Dask or Spark: one with a column ``model``, or a mapping of names to frames.
    engine
        "duckdb", "dask", "dask=ADDRESS", "spark" or "spark=MASTER"; a frame's own wherever it is one.

    Returns
    -------
    Aggregated
        Where the counts are, and of how many examples and models.
    """
    import evalreport.metrics  # noqa: F401 - registers what is added up of scores
    from evalreport.loading.load import settled_options
    from evalreport.options import memory_bytes
    from evalreport.scale.aggregates import aggregate

    settled, _ = settled_options(None, truth, option_fields, None)
    limit = memory_bytes(memory_limit)
    return aggregate(models, output=output, options=settled, engine=engine, memory_limit=limit)


@_public()
def compare_runs(
    old: Results | AnyPath, new: Results | AnyPath, *, inputs: tuple[AnyPath, AnyPath] | None = None
) -> Compared:
    """Say what changed between two runs, such as a base branch and a pull request.

    Parameters
    ----------
    old, new
        Results, or an output folder, a results.json or a report.pdf.
    inputs
        The folders of prediction files of the old and the new run: models are then compared pair by pair. ``None``:
        there is each value with its interval, and what that cannot settle is said.

    Returns
    -------
    Compared
        Values, verdicts, gates, models, data and options that are not the same.

    Raises
    ------
    InputError
        Results that cannot be read, or prediction files that are not those of the run.

    Examples
    --------
    >>> import evalreport as er
    >>> truth = [1, 0, 1, 0]
    >>> runs = [er.evaluate({"tree": {"y_pred": p}}, truth=truth) for p in ([1, 0, 0, 0], [1, 0, 1, 0])]
    >>> changed = er.compare_runs(*runs)
    >>> [(v.old, v.new) for v in changed.values if v.metric == "accuracy"]
    [(0.75, 1.0)]
    """
    from evalreport.history.compare_runs import compare_runs
    from evalreport.schema.recorded import as_recorded

    return compare_runs(as_recorded(old), as_recorded(new), inputs=inputs)


@_public()
def verify(
    results: Results | AnyPath,
    *,
    inputs: AnyPath = ".",
    history: str | None = None,
    series: str = "default",
    criteria: AnyPath | None = None,
    templates: AnyPath | None = None,
    jobs: int = 1,
    progress: Callable[[str, float], None] | None = None,
) -> Verification:
    """Recompute what results say from the prediction files that they name.

    Parameters
    ----------
    results
        Results, or an output folder, a results.json or a report.pdf.
    inputs
        The folder of the prediction files, or their address.
    history, series
        Address of the history that recorded an audit, and its series there: for what it says about earlier runs.
    criteria
        The file of the criteria that the run must have followed.
    templates
        The folder of templates that the documents in an output folder were made with.
    jobs
        Threads to use; no figure depends on it.
    progress
        Called with the stage's name and the share done, in [0, 1].

    Returns
    -------
    Verification
        ``outcome`` is "agrees", "differs" or "cannot be had"; ``differences`` are the figures that do not follow.

    Raises
    ------
    InputError
        Results that cannot be read.
    UsageError
        The recorded options are none that this version can follow.
    """
    from pathlib import Path

    from evalreport.history.connection import open_history
    from evalreport.schema.recorded import as_recorded
    from evalreport.verify.recompute import verify

    known = None if history is None else open_history(history)
    return verify(
        as_recorded(results),
        inputs,
        history=known,
        series=series,
        criteria=criteria,
        templates=None if templates is None else Path(templates),
        jobs=jobs,
        progress=progress,
    )


@_public()
def declare(
    output: AnyPath,
    *,
    truth: AnyPath,
    models: Sequence[str],
    metrics: str | Sequence[str] = (),
    margin: float | None = None,
    gates: str | Sequence[str] = (),
    slices: str | Sequence[str] = (),
    correction: Literal["holm", "bh", "bonferroni", "none"] = "holm",
    confidence: float = 0.95,
    looks: int | None = None,
    n_max: int | None = None,
    baseline: str | None = None,
    time: str | None = None,
) -> None:
    r"""Declare criteria before a run, in a file that ``evaluate(..., criteria=FILE)`` follows.

    Parameters
    ----------
    output
        The file to write, in TOML; one that exists is left as it is.
    truth
        The file of true values, or prediction files that hold them; no prediction is read.
    models
        The names of the models that will be compared.
    metrics, margin, gates, slices, correction, confidence, looks, n_max, baseline
        As ``evaluate`` takes them.
    time
        When they are declared, in ISO 8601; ``None``: SOURCE_DATE_EPOCH, else now.

    Raises
    ------
    UsageError
        A value that is not allowed, or a file that exists.
    InputError
        True values that cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> import evalreport as er
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     truth, criteria = f"{folder}/truth.csv", f"{folder}/criteria.toml"
    ...     with open(truth, "w") as file:
    ...         _ = file.write("id,y_true\nx,1\ny,0\n")
    ...     er.declare(criteria, truth=truth, models=["tree"], metrics="accuracy", time="2026-11-02")
    ...     answers = {"tree": {"id": ["x", "y"], "y_pred": [1, 1]}}
    ...     er.evaluate(answers, truth=truth, criteria=criteria).declared.changed
    ()
    """
    from pathlib import Path

    from evalreport.errors import UsageError
    from evalreport.looks.commands import declare as write

    if isinstance(models, str):
        raise UsageError(f"models must be a list of names, such as ['{models[:40]}']")
    given: dict[str, object] = {
        "metrics": metrics, "margin": margin, "gates": gates, "slices": slices, "correction": correction,
        "confidence": confidence, "looks": looks, "n_max": n_max, "baseline": baseline,
    }  # fmt: skip
    fields = {name: value for name, value in given.items() if value not in (None, ())}
    write(str(truth), list(models), fields, time, Path(output))


@_public()
def plan(
    *,
    half_width: float | None = None,
    difference: float | None = None,
    examples: int | None = None,
    measure: Measure = "accuracy",
    layout: Layout = "paired",
    expected: float | Sequence[float] = (),
    against: float | None = None,
    discordance: float | None = None,
    sd: float | None = None,
    between: float | None = None,
    within: float | None = None,
    attempts: int | Sequence[int] = (),
    prevalence: float = 0.5,
    folds: int = 10,
    repeats: int | None = None,
    judge_correlation: float | None = None,
    results: Results | AnyPath | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
    pairs: int = 1,
    looks: int | None = None,
) -> tuple[Answer, ...]:
    """Say how many examples are needed, or what a number of them can show; without a question, both for usual numbers.

    Parameters
    ----------
    half_width, difference, examples
        What is asked: examples for an interval of +- ``half_width``; examples to find a ``difference``; what so many
        ``examples`` show.
    measure
        "accuracy" (or any other proportion), the "mean" of a loss, or "auc".
    layout
        "one" model against a value, two on the same examples ("paired"), two on sets of their own ("independent"), or
        cross-validation ("folds").
    expected
        Expected accuracy or AUC; two for two models.
    against
        The value that one model is compared with.
    discordance
        Share of examples on which exactly one of the two models is right.
    sd
        Standard deviation: of a mean's values, of the differences of two models by example, or of those by fold.
    between, within, attempts
        Instead of it, of a mean over questions with several attempts each: the variance between questions, that between
        the attempts at one (both as ``attempt_variance`` in results has them), and how many attempts.
    prevalence
        Share of positive examples, for AUC.
    folds, repeats
        Of the cross-validation.
    judge_correlation
        Of an automatic judge's outcomes of all ``examples`` with people's: asks what human outcomes are worth.
    results
        A run, or its results.json: asks how many fresh examples would confirm the model that leads; with the column
        gold also what human outcomes are worth, by its correlations.
    power, confidence
        Wanted probability of finding the difference; level of the intervals.
    pairs
        Comparisons that are corrected together.
    looks
        With ``difference``: how many looks there may be at a growing number of examples.

    Returns
    -------
    tuple of Answer
        One an asked question: ``rows`` hold the answers, each under its assumption; ``str`` gives it as a table.

    Raises
    ------
    UsageError
        A number out of its range, or an assumption that the formula needs is missing.

    Examples
    --------
    >>> import evalreport as er
    >>> answer = er.plan(half_width=0.02, expected=0.9)[0]
    >>> [row.answer for row in answer.rows], answer.unit
    ([868], 'examples')
    """
    from evalreport.comparisons.study_design import PlanOptions, answers, judges_of, leads_of
    from evalreport.schema.recorded import as_recorded

    content = None if results is None else as_recorded(results).content
    choices = () if content is None else leads_of(content)
    options = PlanOptions(
        judge_correlation=judge_correlation,
        judges=() if content is None else judges_of(content, may_lack=bool(choices)),
        choices=choices,
        half_width=half_width,
        difference=difference,
        examples=examples,
        measure=measure,
        layout=layout,
        expected=(expected,) if isinstance(expected, (int, float)) else tuple(expected),
        against=against,
        discordance=discordance,
        sd=sd,
        between=between,
        within=within,
        attempts=(attempts,) if isinstance(attempts, int) else tuple(attempts),
        prevalence=prevalence,
        folds=folds,
        repeats=repeats,
        power=power,
        alpha=(1 - confidence) / pairs,
        looks=looks,
    )
    return answers(options)


def saved(source: AnyPath | bytes) -> Results:
    """Read saved results: ``Results.from_json`` calls this function.

    Parameters
    ----------
    source
        The text of a results.json, its path, the folder that holds it, or a report.pdf.
    """
    from pathlib import Path

    from evalreport.schema.recorded import parsed, read_recorded, results_of

    if isinstance(source, bytes) or (isinstance(source, str) and source.lstrip().startswith("{")):
        return results_of(parsed(source.encode() if isinstance(source, str) else source, "results"))
    return results_of(read_recorded(Path(source)).content)


def document(results: Results, form: Literal["html", "pdf"], **fields: Unpack[ReportKeywords]) -> bytes:
    """Return one document of a report: ``results.to_html()`` and ``results.to_pdf(path)`` call this function.

    Raises
    ------
    OutputError
        It could not be made.
    """
    from evalreport import report
    from evalreport.options import output_options

    return report.document(results, form, output_options(fields))


def pairs_of(results: Results) -> dict[str, list[object]]:
    """Return the columns of tables/pairs.csv: ``results.pairs`` calls this function."""
    from evalreport.report.tables import PAIR_COLUMNS, pairs
    from evalreport.report.view import view_of
    from evalreport.texts.units import speaking_of

    with speaking_of(results.unit):
        rows = list(pairs(view_of(results)))
    return {name: [row[place] for row in rows] for place, name in enumerate(PAIR_COLUMNS)}


def shown(results: Results, form: Literal["summary", "screen", "notebook"]) -> str:
    """Return results as text: ``results.summary()``, ``repr(results)`` and the HTML of a notebook call this function.

    Parameters
    ----------
    results
        The results of a run.
    form
        ``summary``: the text of summary.md. ``screen``: plain text for a terminal. ``notebook``: the leaderboard as
        HTML.
    """
    from evalreport.report import markdown, notebook, terminal
    from evalreport.texts.units import speaking_of

    with speaking_of(results.unit):
        if form == "summary":
            return markdown.summary_text(results)
        return terminal.one_screen(results) if form == "screen" else notebook.leaderboard_html(results)


def figure_of(results: Results, form: Literal["values", "forest", "calibration_curve"]) -> Figure:
    """Return a chart as a figure: ``results.board()`` and the other charts of results call this function.

    Raises
    ------
    UsageError
        Calibration of results without probabilities.
    """
    from matplotlib.figure import Figure

    from evalreport import plots
    from evalreport.errors import UsageError
    from evalreport.texts.units import speaking_of

    models: list[str | None] = [None]
    if form == "calibration_curve":
        models = list(dict.fromkeys(c.model for c in results.curves if c.curve == "corp" and c.label is None))
        if not models:
            raise UsageError("there is no calibration curve: it needs probabilities of classes")
    rows = {"values": len(results.models), "forest": len(results.verdicts)}.get(form, 0)
    width = 6.4 if len(models) == 1 else 4.2 * len(models)
    figure = Figure(figsize=(width, max(4.2, 1 + 0.25 * rows)), layout="constrained")
    with speaking_of(results.unit):
        for axes, model in zip(figure.subplots(1, len(models), squeeze=False)[0], models, strict=True):
            getattr(plots, form)(results, *([] if model is None else [model]), ax=axes)
    return figure


class _Package(_ModuleType):
    """The package, whose public function ``verify`` keeps its name when the extension of that name is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if name != "verify" or not isinstance(value, _ModuleType):
            super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package

if _os.path.exists(f"{__path__[0]}/__version__.py"):  # noqa: PTH110 - pathlib's import would take longer than the look
    import warnings as _warnings

    _warnings.warn(
        "the package model-eval-toolkit, whose Python package is called evalreport as well, was installed into the same"
        " folder: files of both are mixed. Uninstall both (pip uninstall model-eval-toolkit evalreport), then install"
        " the one that you want",
        RuntimeWarning,
        stacklevel=2,
    )


def __getattr__(name: str) -> object:
    if name not in _ELSEWHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    place = importlib.import_module(_ELSEWHERE[name])
    return getattr(place, name) if name[0].isupper() else place


def __dir__() -> list[str]:
    return sorted(__all__)
