"""The commands ``evalreport run`` and ``evalreport check``."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalreport.cli import Level, State, clean, progress_bar, say, say_found, say_warnings, tell
from evalreport.cli.configuration import (
    Grouped,
    Settings,
    given,
    loading_options,
    models_argument,
    run_options,
    settle,
)
from evalreport.errors import OutputError, UsageError, cleared
from evalreport.options import (
    FILES,
    JSON,
    KEYS,
    PAGE,
    PDF,
    STANDARD_OUTPUT,
    SUMMARY,
    Options,
    OutputOptions,
    memory_bytes,
)
from evalreport.registry import unknown_name
from evalreport.texts import Message, group_of
from evalreport.texts.units import speaking_of

if TYPE_CHECKING:
    from evalreport.predictions.possible_analyses import Possible
    from evalreport.predictions.table import Predictions
    from evalreport.schema.decisions import GateRecord
    from evalreport.schema.results import Results


EXIT_GATE_FAILED = 1
EXIT_GATE_UNDECIDED = 3
GATE_LEVELS: dict[str, Level] = {"pass": "info", "fail": "error", "undecided": "warning"}


@click.command("run", cls=Grouped)
@models_argument
@run_options
@click.pass_context
def run_command(
    context: click.Context, /, models: tuple[Path | str, ...], config: Path | None, **flags: object
) -> int:
    """Compare models and write the report.

    MODELS is a folder of prediction files ({formats}), one or more such files, a pattern
    ('preds/**/*.parquet'), or an address (s3://, gs://, https://). A sub-folder is one model in any number of
    files; folders model=NAME/day=3/ give columns. Every option can also stand in evalreport.toml: a flag wins
    over the file.
    """
    context.obj["interrupted"] = "nothing was written"
    settings = begin(context, models, flags, config)
    check_output(settings.output)
    results = _evaluate(models, settings, context.obj)
    with speaking_of(results.unit):
        failure = write(results, settings.output, context.obj)
        say_gates(results.gates, settings.output)
    return exit_code({gate.outcome for gate in results.gates}, failure)


def begin(
    context: click.Context, models: tuple[Path | str, ...], flags: Mapping[str, object], config: Path | None
) -> Settings:
    """Return the options of a command, and print which configuration file was read.

    Raises
    ------
    UsageError
        A configuration file cannot be read, or a value is not allowed.
    """
    settings = settle(models, given(flags), config=config)
    context.obj["verbose"] = settings.output.verbose
    if settings.config is not None and not settings.output.quiet:
        say(f"configuration: {settings.config}")
    return settings


def exit_code(outcomes: Collection[str | None], failure: OutputError | None = None) -> int:
    """Return the exit code: 1 a gate failed, 3 a gate is undecided, 4 an output is missing, else 0."""
    if "fail" in outcomes:
        return EXIT_GATE_FAILED
    if "undecided" in outcomes:
        return EXIT_GATE_UNDECIDED
    return 0 if failure is None else failure.exit_code


def check_output(options: OutputOptions) -> None:
    """Check that the report can be written, and complete a report that a killed run left half moved.

    Raises
    ------
    UsageError
        A file is in the way, the folder is not writable, or there is no folder of templates.
    OutputError
        The report of a killed run can be neither undone nor completed.
    """
    from evalreport.files import check_way, recover

    if options.templates is not None and not options.templates.is_dir():
        raise UsageError(
            f"--templates {options.templates}: no such folder; `evalreport templates copy DIR` makes one"
        )
    output = options.output
    if output == STANDARD_OUTPUT:
        return
    place = output
    try:
        while not _is_there(place) and place != place.parent:
            place = place.parent
        folder = place.is_dir()
    except OSError as error:
        raise UsageError(f"{output}: {error.strerror}; name another folder with -o") from None
    if not folder:
        raise UsageError(f"{place}: is a file, where the report needs a folder; name another folder with -o")
    if not os.access(place, os.W_OK | os.X_OK):
        raise UsageError(f"{place}: no permission to write; name another folder with -o")
    names = [name for form in options.formats for name in FILES[form]]
    if options.junit is not None and _within(options):
        if any(options.junit.name in files for files in FILES.values()):
            raise UsageError(f"--junit {options.junit}: the report has a file of this name; name another")
        names.append(options.junit.name)
    if place == output:
        recover(output)
        check_way(output, names)


def _is_there(place: Path) -> bool:
    """Return whether a path exists; Python 3.14's ``Path.exists`` says no where the system refuses the question."""
    try:
        place.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _evaluate(models: tuple[Path | str, ...], settings: Settings, state: State) -> Results:
    """Run the analysis, decide the gates, and print the notes about the files."""
    from evalreport import analysis, extensions

    check_names(settings.options)
    looks = extensions.load("looks of a run")(settings.options)
    limit = memory_bytes(settings.output.memory_limit)
    with progress_bar("reading and checking", shown=not settings.output.quiet, shorter=True) as progress:
        source, criteria = source_of(models, settings), None
        if settings.options.criteria is not None:
            from evalreport.loading.load import load

            source = load(source, options=settings.options, memory_limit=limit)
            criteria = extensions.load("criteria of a run")(settings.options, source)
        look_of, jobs = None if looks is None else looks.look, settings.output.jobs
        evaluate = partial(analysis.evaluate, options=settings.options, jobs=jobs, memory_limit=limit)
        results = evaluate(source, progress=progress, look_of=look_of)
        results = cleared(analysis.with_gates(results, settings.options, criteria and criteria.mark))
        if looks is not None:
            if settings.options.looks_file is not None:
                state["interrupted"] = Message("cli.look_kept", path=settings.options.looks_file)
            looks.keep(results)  # before the report is moved in: no kill leaves a report without its look
    if not settings.output.quiet:
        say_read(results, settings.output)
    return results


def say_read(results: Results, output: OutputOptions) -> None:
    """Print the facts found in the files, and the warnings that the summary leaves out."""
    from evalreport.report import terminal

    summarised = output.output != STANDARD_OUTPUT and output.log_format == "text" and not output.verbose
    with speaking_of(results.unit):
        say_found(results.found, verbose=output.verbose)
        warnings = terminal.not_summarised(results) if summarised else results.warnings
        say_warnings(warnings, verbose=output.verbose)


def source_of(
    models: tuple[Path | str, ...], settings: Settings
) -> Path | str | list[Path | str] | Predictions:
    """Return MODELS, or their counts from a cluster if --engine names one."""
    from evalreport import extensions
    from evalreport.loading.load import load

    source = models[0] if len(models) == 1 else list(models)
    engine = extensions.load("engine elsewhere")(settings.output.engine)
    return source if engine is None else load(source, options=settings.options, engine=engine)


def check_names(options: Options) -> None:
    """Check the names of intervals and tests before loading; the metrics allowed depend on the task."""
    from evalreport.comparisons import TESTS
    from evalreport.intervals import INTERVALS

    for registry, names in ((INTERVALS, options.intervals), (TESTS, options.tests)):
        for name in names:
            if name != "all" and name not in registry:
                raise UsageError(unknown_name(registry.kind, name, [*registry, "all"]))


def write(results: Results, output: OutputOptions, state: State) -> OutputError | None:
    """Write the report; return the error of a document that failed."""
    if output.output == STANDARD_OUTPUT:
        state["interrupted"] = None
        gates = _write_gates(results, output.junit)
        _write_json(results)
        return gates
    # Gates inside the report's folder are moved in together with it, so that both are always of the same run.
    within = _within(output)
    failure = _write_report(results, output, state, within=within)
    if within:
        return failure
    if state["written"] is None:
        state["interrupted"] = None  # no report, but perhaps the gates
    return _write_gates(results, output.junit) or failure


def _within(output: OutputOptions) -> bool:
    """Return whether --junit names a file in the folder of the report."""
    return output.junit is not None and output.junit.parent.resolve() == output.output.resolve()


def _write_gates(results: Results, path: Path | None) -> OutputError | None:
    """Write the gates as JUnit XML for --junit; return the error if that failed."""
    if path is None:
        return None
    from evalreport.report.junit import write_junit

    try:
        write_junit(results, path)
    except OutputError as error:
        say(f"evalreport: {error}", level="error")
        return error
    return None


def _write_report(
    results: Results, output: OutputOptions, state: State, *, within: bool
) -> OutputError | None:
    from evalreport import report

    beside = {}
    if within and output.junit is not None:
        from evalreport.report.junit import junit_xml

        beside[output.junit.name] = junit_xml(results)

    def done() -> None:
        state["written"] = output.output
        state["interrupted"] = Message("cli.report_written", path=str(output.output))

    failure = None
    try:
        with progress_bar("writing the report", shown=not output.quiet):
            outcome = report.render(results, output.output, options=output, beside=beside, done=done)
    except OutputError as error:
        failure = error
        say(f"evalreport: {error}", level="error")
    except OSError as error:
        raise UsageError(
            f"{output.output}: the report could not be written: {error.strerror or error}"
        ) from error
    else:
        for warning in outcome.warnings:
            say(f"warning: {warning}", level="warning")
    if not output.quiet:
        _say_what_lacks(output)
        _print_summary(results, output.output)
    return failure


def _say_what_lacks(output: OutputOptions) -> None:
    """Print what this system cannot promise of the report that was written."""
    from evalreport import platform

    if not platform.exchanges_folders():
        say(Message("cli.lacks.exchange"))
    if output.templates is not None and not platform.limits_processes():
        say(Message("cli.lacks.limits"), level="warning")


def _write_json(results: Results) -> None:
    """Write the JSON to standard output as bytes, without the platform's encoding or newlines."""
    from evalreport.schema.results import to_json

    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(to_json(results).decode())
    else:
        stream.write(to_json(results))
        stream.flush()


def _print_summary(results: Results, folder: Path) -> None:
    """Print the table of models on standard output, then the path of the report."""
    from rich.console import Console

    from evalreport.report import terminal

    # Files and pipes get a wide table, so that no cell is cut.
    console = Console() if sys.stdout.isatty() else Console(width=160)
    console.print(terminal.summary(results))
    # The page if it was made, else the next document.
    names = [name for name in (PAGE, PDF, SUMMARY, JSON) if (folder / name).is_file()]
    if names:
        tell(f"report: {folder / names[0]}")


def say_gates(gates: Sequence[GateRecord], output: OutputOptions) -> None:
    """Print the gates that did not pass, if the summary is not printed."""
    if output.quiet or output.output == STANDARD_OUTPUT:
        for gate in gates:
            if gate.outcome != "pass":
                say(f"gate: {gate.outcome}: {gate.gate}: {gate.text}", level=GATE_LEVELS[gate.outcome])


@click.command("check", cls=Grouped)
@models_argument
@loading_options
@click.pass_context
def check_command(
    context: click.Context, /, models: tuple[Path | str, ...], config: Path | None, **flags: object
) -> int:
    """Read and validate MODELS, analyse nothing.

    Prints which models, design and task were found, which analyses are possible, and for the others the
    reason and what would make them possible. Bad input ends with exit code 2, as it would in a run.
    """
    settings = begin(context, models, flags, config)
    from evalreport.loading.load import load
    from evalreport.predictions.possible_analyses import survey as survey_of

    limit = memory_bytes(settings.output.memory_limit)
    predictions = load(source_of(models, settings), options=settings.options, memory_limit=limit)
    survey = survey_of(predictions)
    if not settings.output.quiet:
        _print_found(predictions)
        _print_survey(survey)
        tell(Message("cli.check.next", command=_next_command(models, flags, config)))
    return 0


def _next_command(models: tuple[Path | str, ...], flags: Mapping[str, object], config: Path | None) -> str:
    """Return the command line of a run of the same files with the same options."""
    words = ["evalreport", "run", *map(str, models)]
    for key in KEYS:
        value = flags.get(key.field)
        if value is True:
            words.append(key.flag)
        elif value not in (None, False, ()):
            values = value if isinstance(value, tuple) else (value,)
            words += [word for part in values for word in (key.flag, str(part))]
    return shlex.join([*words, *(["--config", str(config)] if config is not None else [])])


def _print_found(predictions: Predictions) -> None:
    """Print the files and the facts found in them, one for each line."""
    from evalreport.report.cautions import one_of_a_code

    for record in predictions.inputs:
        model = f", model {record.model}" if record.model is not None else ""
        tell(f"file: {record.path} ({record.rows} {'row' if record.rows == 1 else 'rows'}{model})")
    for name, value in _facts(predictions).items():
        if value is not None:
            tell(f"{name}: {value}")
    for found in predictions.found:
        tell(f"{found.what}: {found.value}" + (f" ({found.why})" if found.why else ""))
    for warning in one_of_a_code(predictions.warnings):
        tell(f"warning: {warning.text} [{warning.code}]")


def _facts(predictions: Predictions) -> dict[str, str | None]:
    found = {record.what for record in predictions.found}
    facts = {
        "models": ", ".join(model.name for model in predictions.models),
        # With attempts there is one row for each question; the rows of the files are printed before.
        "rows": None if "attempts" in found else str(predictions.n),
        "examples": str(len(predictions.ids) if predictions.multiplicity is None else predictions.n_examples),
        "task": predictions.task,
        "design": predictions.design,
        "classes": ", ".join(predictions.classes) or None,
        "positive class": predictions.positive,
        "metadata columns": ", ".join(predictions.metadata) or None,
    }
    # Facts with a reason are printed from the records.
    return {name: value for name, value in facts.items() if name not in found}


def _print_survey(survey: tuple[Possible, ...]) -> None:
    """Print the analyses: a table on a terminal, else one tab-separated line for each."""
    if not sys.stdout.isatty():
        for row in survey:
            state = "possible" if row.possible else "not possible"
            tell(f"{state}: {row.analysis}\t{row.reason}\t{row.remedy or ''}".rstrip("\t"))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*group_of("cli.check.table").values(), title="Analyses")
    for row in survey:
        cells = (row.analysis, "yes" if row.possible else "no", row.reason, row.remedy or "")
        table.add_row(*(Text(clean(cell)) for cell in cells))
    Console().print(table)
