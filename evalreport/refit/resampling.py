"""``resample()``: from a plan to a file of predictions, with warnings about its data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from evalreport.errors import OutputError, UsageError
from evalreport.files import Kind, publish
from evalreport.loading.task import positive_of
from evalreport.metrics import METRICS
from evalreport.refit.backends import perform_all
from evalreport.refit.building import check_buildable, require_refit
from evalreport.refit.examples import Examples, read_examples, same_features
from evalreport.refit.fitting import Failure, Outcome
from evalreport.refit.journal import Journal, journal_path, open_journal
from evalreport.refit.plans import Plan, describe, read_plan, settle, variants
from evalreport.refit.prediction_tables import (
    WRITTEN_FORMATS,
    check_columns,
    prediction_table,
    table_bytes,
    warnings_of,
)
from evalreport.refit.splits import Fit, fits_of
from evalreport.refit.tasks import Task, tasks_of, versions
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.sources.reading import dotted
from evalreport.texts import Message, say
from evalreport.texts.visible import escaped_json

Progress = Callable[[str, float], None]
SCHEMA = "evalreport/resample/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampled:
    """The result of carrying out a plan.

    Attributes
    ----------
    predictions
        The file that ``run`` reads; None: no fit succeeded.
    record
        The JSON file about how it was made.
    n_fits, n_reused
        The number of fits, and of those that an earlier, interrupted run had finished.
    arguments
        Arguments that ``evalreport run`` needs for these predictions, after their path.
    """

    predictions: Path | None
    record: Path | None
    models: tuple[str, ...]
    n_rows: int
    n_fits: int
    n_reused: int
    failures: tuple[Failure, ...]
    failures_file: Path | None
    warnings: tuple[WarningRecord, ...]
    estimators_warned: tuple[str, ...]
    arguments: tuple[str, ...]


def resample(
    plan: Plan | Path,
    *,
    output: Path,
    progress: Progress | None = None,
    announce: Callable[[str], None] = lambda _text: None,
    done: Callable[[Path], None] = lambda _predictions: None,
) -> Resampled:
    """Fit every estimator of a plan on every division of its examples and write the predictions.

    Parameters
    ----------
    plan
        A plan, or its TOML file.
    output
        A folder, or a file ending in .parquet, .csv or .csv.gz.
    progress
        Called with the stage's name and the share done, in [0, 1].
    announce
        Called with lines for the user before the fits.
    done
        Called with the path of the written predictions, before a pending interrupt is raised.

    Raises
    ------
    UsageError
        The plan cannot be carried out, a library is missing, or the output cannot be written.
    InputError
        The examples cannot be used.
    OutputError
        The output could not be written; the finished fits are kept beside it.
    """
    settled = read_plan(plan) if isinstance(plan, Path) else settle(plan)
    require_refit()
    _check_output(output)
    examples = read_examples(settled.data, settled.folder)
    check_columns(examples)
    settled = _with_selection(settled, examples)
    paths = dict.fromkeys(path for estimator in settled.estimators for path in estimator.factory)
    for line in (*examples.notes, Message("resample.own_code", paths=tuple(paths))):
        announce(str(line))
    for estimator in settled.estimators:
        check_buildable(estimator, settled.folder, examples.task)
    fits = fits_of(examples, settled.scheme, settled.seed)
    warnings = guards(examples, fits)
    for raised in warnings:
        announce(f"{raised.level}: {raised.text} [{raised.code}]")
    tasks = tasks_of(settled, examples, fits)
    with open_journal(journal_path(output)) as journal:
        reused = sum(task.key in journal.fits for task in tasks)
        if reused:
            announce(say("resample.reused", n=reused, total=len(tasks)))
        outcomes = _carry_out(settled, examples, tasks, journal, progress)
        pairs = list(zip(tasks, outcomes, strict=True))
        written = _write(settled, examples, pairs, output, warnings, reused, done)
        # Finished fits are kept until the predictions are written.
        journal.served = not written.failures
    return written


def _with_selection(plan: Plan, examples: Examples) -> Plan:
    """Fill in the default loss of a search."""
    regression = examples.task == "regression"
    select = plan.scheme.select or ("mse" if regression else "accuracy")
    if examples.task not in METRICS[select].tasks:
        raise UsageError(f"[scheme] select {select!r} does not suit the task {examples.task}")
    return replace(plan, scheme=replace(plan.scheme, select=select))


def _check_output(output: Path) -> None:
    """Check before the fits that the output can be written."""
    named_as_file = output.name.lower().endswith((*dotted(), ".gz"))
    if named_as_file and not output.name.endswith(WRITTEN_FORMATS):
        formats = ", ".join(WRITTEN_FORMATS)
        raise UsageError(f"{output}: predictions are written as {formats}, or into a folder")
    if output.is_dir() and named_as_file:
        raise UsageError(f"{output}: is a folder; name another output with -o")
    if output.exists() and not output.is_dir() and not named_as_file:
        raise UsageError(f"{output}: is a file, where a folder is needed; name another with -o")


def _carry_out(
    plan: Plan, examples: Examples, tasks: Sequence[Task], journal: Journal, progress: Progress | None
) -> list[Outcome]:
    """Do the tasks that are not in the journal, and add each to it when it is done."""
    outcomes: dict[int, Outcome] = {
        place: journal.fits[task.key] for place, task in enumerate(tasks) if task.key in journal.fits
    }
    waiting = [place for place in range(len(tasks)) if place not in outcomes]
    for number, outcome in perform_all(plan, examples, [tasks[place] for place in waiting]):
        place = waiting[number]
        outcomes[place] = outcome
        if not isinstance(outcome, Failure):
            journal.add(tasks[place].key, outcome)
        if progress is not None:
            progress(f"fit {len(outcomes):,} of {len(tasks):,}", len(outcomes) / len(tasks))
    return [outcomes[place] for place in range(len(tasks))]


def _write(
    plan: Plan,
    examples: Examples,
    outcomes: Sequence[tuple[Task, Outcome]],
    output: Path,
    warnings: tuple[WarningRecord, ...],
    reused: int,
    done: Callable[[Path], None],
) -> Resampled:
    """Write predictions, failures and the record together."""
    results = [(task, outcome) for task, outcome in outcomes if not isinstance(outcome, Failure)]
    failures = tuple(outcome for _, outcome in outcomes if isinstance(outcome, Failure))
    predictions, record, failed = _places(output)
    files: dict[Path, bytes | None] = {failed: _failures_text(failures) if failures else None}
    warned = tuple(warnings_of(results))
    n_rows = 0
    if results:
        table = prediction_table(examples, plan.scheme, results)
        n_rows = table.num_rows
        files[predictions] = content = table_bytes(table, predictions)
        sha256 = hashlib.sha256(content).hexdigest()
        files[record] = _json(
            {
                "schema": SCHEMA,
                # Without the number of jobs and the backend, which decide nothing.
                "plan": describe(plan),
                "data": {
                    "file": plan.data.file.name,
                    "sha256": examples.sha256,
                    "n": examples.n,
                    "features": examples.features.shape[1],
                    "task": examples.task,
                    "classes": list(examples.classes),
                    "positive": examples.positive,
                },
                "environment": versions(),
                "predictions": {"file": predictions.name, "rows": n_rows, "sha256": sha256},
                "fits": len(outcomes),
                "failures": [{"model": f.model, "fit": dict(f.fit), "error": f.error} for f in failures],
                "warnings": [asdict(warning) | {"text": str(warning.text)} for warning in warnings],
                "estimators_warned": list(warned),
            }
        )
    _publish(files, partial(done, predictions) if results else lambda: None)
    return Resampled(
        predictions=predictions if results else None,
        record=record if results else None,
        models=tuple(dict.fromkeys(v.model for estimator in plan.estimators for v in variants(estimator))),
        n_rows=n_rows,
        n_fits=len(outcomes),
        n_reused=reused,
        failures=failures,
        failures_file=failed if failures else None,
        warnings=warnings,
        estimators_warned=warned,
        arguments=_arguments(plan, examples, failures),
    )


def _places(output: Path) -> tuple[Path, Path, Path]:
    """Return the paths of predictions, record and failures; ``run`` reads only that of the predictions."""
    ending = next((end for end in WRITTEN_FORMATS if output.name.endswith(end)), None)
    if ending is None:
        return output / "predictions.parquet", output / "resample.json", output / "failures.md"
    stem = output.name.removesuffix(ending)
    return output, output.with_name(f"{stem}.resample.json"), output.with_name(f"{stem}.failures.md")


def _failures_text(failures: Sequence[Failure]) -> bytes:
    parts = ["# Fits that failed\n"]
    for failure in failures:
        which = ", ".join(f"{name} {value:g}" for name, value in failure.fit.items())
        head = f"## {failure.model}" + (f": {which}" if which else "")
        body = "\n".join("    " + line for line in failure.traceback.rstrip().splitlines())
        parts.append(f"{head}\n\n{body}\n")
    return "\n".join(parts).encode("utf-8", errors="replace")


def _json(content: Mapping[str, object]) -> bytes:
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, default=str)
    return escaped_json(text + "\n").encode("utf-8", errors="replace")


def _publish(files: Mapping[Path, bytes | None], done: Callable[[], None]) -> None:
    """Write all files of one folder together; None removes an earlier run's file."""
    folder = next(iter(files)).parent
    names = frozenset(path.name for path in files)
    given = {path.name: content for path, content in files.items() if content is not None}
    try:
        publish(folder, given, kind=Kind("resample", names.__contains__), done=done)
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot be written: {error.strerror or error}; the finished fits are kept, and the same command"
            " goes on from there"
        ) from error


def _arguments(plan: Plan, examples: Examples, failures: Sequence[Failure]) -> tuple[str, ...]:
    """Return the arguments of ``run`` that the predictions alone do not show."""
    words: list[str] = []
    if examples.positive is not None and examples.positive != positive_of(examples.classes, None):
        words += ["--positive", examples.positive]
    if plan.data.group is not None:
        words += ["--cluster", plan.data.group]
    if failures:
        words += ["--join", "intersect"]
    return tuple(words)


FEW_IN_A_FOLD = 30


def guards(examples: Examples, fits: Sequence[Fit]) -> tuple[WarningRecord, ...]:
    """Return the warnings that the examples and the fits give reason for."""
    tested = [fit for fit in fits if fit.part == "test"]
    return (*_duplicates(examples, tested), *_small_folds(tested), *_missing_classes(examples, fits))


def _duplicates(examples: Examples, fits: Sequence[Fit]) -> Iterator[WarningRecord]:
    """Warn of test examples whose features stand, value by value, among the training examples as well."""
    code = same_features(examples)
    if len(np.unique(code)) == examples.n:
        return
    hit = np.zeros(examples.n, dtype=bool)
    count = 0
    for fit in fits:
        alone = np.setdiff1d(fit.test, fit.train)
        twins = alone[np.isin(code[alone], code[fit.train])]
        hit[twins] = True
        count += bool(len(twins))
    if not count:
        return
    first = examples.ids[int(np.argmax(hit))]
    yield warning(
        "duplicates_across_split",
        n=int(hit.sum()), total=examples.n, example=first, fits=count, all_fits=len(fits),
    )  # fmt: skip


def _small_folds(fits: Sequence[Fit]) -> Iterator[WarningRecord]:
    sizes = [len(fit.test) for fit in fits if "fold" in fit.keys]
    # Folds of leave-one-out are never used alone.
    if sizes and 1 < min(sizes) < FEW_IN_A_FOLD:
        text = Message("planned_folds.small", n=min(sizes), least=FEW_IN_A_FOLD)
        yield WarningRecord(code="small_folds", text=text)


def _missing_classes(examples: Examples, fits: Sequence[Fit]) -> Iterator[WarningRecord]:
    """Warn of folds and of training rows that lack a class."""
    if examples.labels is None:
        return
    codes = examples.labels.codes
    count = len(np.unique(codes))
    folds = [fit.test for fit in fits if "fold" in fit.keys and len(fit.test) > 1]
    lacking = sum(len(np.unique(codes[rows])) < count for rows in folds)
    if lacking:
        tested = sum(fit.part == "test" for fit in fits)
        text = Message("planned_folds.lack_class", n=lacking, total=tested)
        yield WarningRecord(code="class_missing_in_fold", text=text)
    lacking = sum(len(np.unique(codes[fit.train])) < count for fit in fits)
    if lacking:
        yield warning("class_missing_in_training", n=lacking, total=len(fits))
