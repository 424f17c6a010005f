"""The commands ``evalreport verify`` and ``compare-runs``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalreport.cli import LONGEST_LINE, clean, progress_bar, tell, writing
from evalreport.cli.configuration import PathOrAddress
from evalreport.cli.run import EXIT_GATE_FAILED, exit_code
from evalreport.options import PAGE, STANDARD_OUTPUT
from evalreport.texts import Message, plain
from evalreport.texts.visible import shorten

if TYPE_CHECKING:
    from evalreport.history.recorded_inputs import InputState
    from evalreport.verify.documents import Document
    from evalreport.verify.recompute import Leaf, Verification

EXIT_CODES = {"agrees": 0, "differs": 1, "cannot be had": 2}

SHOWN = 20


@click.command("compare-runs")
@click.argument("old", type=click.Path(path_type=Path), metavar="OLD")
@click.argument("new", type=click.Path(path_type=Path), metavar="NEW")
@click.option("--inputs", nargs=2, type=PathOrAddress(), metavar="OLD_DIR NEW_DIR",
              help="The prediction files of both runs: models are then compared pair by pair.")  # fmt: skip
@click.option("--fail-if-worse", is_flag=True,
              help="Exit 1 as well where a model is decidedly worse on the primary metric.")  # fmt: skip
@click.option("-f", "--format", "form", type=click.Choice(["text", "md", "json"]), default="text",
              show_default=True, help="How to write it; md is for a review.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), default=STANDARD_OUTPUT, metavar="FILE",
              help="Write it to a file (default: standard output).")  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Print every line of text (default: half a screen).")
@click.pass_context
def compare_runs_command(
    context: click.Context,
    /,
    old: Path,
    new: Path,
    inputs: tuple[Path | str, Path | str] | None,
    fail_if_worse: bool,
    form: str,
    output: Path,
    verbose: bool,
) -> int:
    """Say what changed between two runs.

    Values, verdicts, gates, models, data and options, from OLD to NEW, the base branch and the pull request. Each is an
    output folder, a results.json or a report.pdf. Without --inputs there is only each value with its interval, and what
    that cannot settle is said.

    Exit codes: 0 no gate of NEW failed; 1 one failed (or a model got worse, with --fail-if-worse); 2 bad input;
    3 none failed, one is undecided.
    """
    context.obj["verbose"] = verbose
    from evalreport.history.compare_runs import compare_runs
    from evalreport.history.comparison_text import as_markdown, as_text, half_a_screen
    from evalreport.schema.recorded import read_recorded

    comparison = compare_runs(read_recorded(old), read_recorded(new), inputs=inputs or None)
    if form == "json":
        content = {**asdict(comparison), "values": [value.as_row() for value in comparison.values]}
        text = json.dumps(content, sort_keys=True, indent=1, default=str) + "\n"
    elif form == "md":
        text = as_markdown(comparison)
    else:
        lines = list(as_text(comparison))
        shown = lines if verbose or output != STANDARD_OUTPUT else half_a_screen(lines)
        text = "".join(clean(line) + "\n" for line in shown)
    with writing(output) as put:
        put(text)
    worse = any(value.judgement == "worse" and value.within is None for value in comparison.values)
    return EXIT_GATE_FAILED if fail_if_worse and worse else exit_code({gate.new for gate in comparison.gates})


@click.command("verify")
@click.argument("results", type=click.Path(path_type=Path), metavar="RESULTS")
@click.option("--inputs", "folder", type=PathOrAddress(), default=".", metavar="DIR",
              help="Where the prediction files are: a folder or an address (default: the current folder).")  # fmt: skip
@click.option("--history", "url", metavar="URL",
              help="The history that recorded the audit: needed for what it says about earlier runs.")  # fmt: skip
@click.option("--series", default="default", show_default=True, metavar="NAME", help="The audit's series.")
@click.option("--criteria", type=click.Path(path_type=Path), metavar="FILE",
              help="The criteria that the run must have followed, as `evalreport declare` wrote them.")  # fmt: skip
@click.option("--templates", type=click.Path(path_type=Path), metavar="DIR",
              help="The templates that the documents in an output folder were made with.")  # fmt: skip
@click.option(
    "-q", "--quiet", is_flag=True, help="Print nothing where all agrees and nothing is taken on its word."
)
@click.option("-v", "--verbose", is_flag=True, help="Print every difference (default: the first 20).")
@click.pass_context
def verify_command(
    context: click.Context,
    /,
    results: Path,
    folder: Path | str,
    url: str | None,
    series: str,
    criteria: Path | None,
    templates: Path | None,
    quiet: bool,
    verbose: bool,
) -> int:
    """Recompute a report's figures from its inputs.

    RESULTS is a results.json, an output folder, or a report.pdf with its attachment. Every figure is computed again
    with the recorded options: metrics, tests, verdicts, gates, slices and curves; an audit's comparisons with
    earlier runs as well, where --history is given. Of an output folder the page, the summary and the tables are made
    again, too.

    Exit codes: 0 all agrees; 1 a figure, a sentence, a record or a document differs, or an input has changed; 2 an
    input is missing, or a part could not be compared.
    """
    context.obj["verbose"] = verbose
    from evalreport.history.connection import open_history
    from evalreport.schema.recorded import read_recorded
    from evalreport.verify.recompute import verify

    recorded = read_recorded(results)
    history = None if url is None else open_history(url)
    with progress_bar("recomputing", shown=not quiet) as progress:
        verification = verify(
            recorded,
            folder,
            history=history,
            series=series,
            criteria=criteria,
            templates=templates,
            progress=progress,
        )
    if not quiet or verification.outcome != "agrees" or verification.scope.on_word:
        for line in _lines(verification, None if verbose else SHOWN):
            tell(shorten(str(line), LONGEST_LINE))
    return EXIT_CODES[verification.outcome]


def _lines(found: Verification, most: int | None) -> list[str | Message]:
    lines: list[str | Message] = [
        f"{found.name}: {_versions(found)}",
        *(_input(state) for state in found.inputs),
    ]
    if found.command:
        lines.append(Message("verify.command", command=found.command))
    if found.figures or found.differences:
        facts = {"figures": found.figures, "words": found.agreeing["words"]}
        rounded = found.agreeing["rounded"]
        lines.append(
            Message("verify.agree_but_for_rounding", **facts, rounded=rounded)
            if rounded
            else Message("verify.agree", **facts)
        )
        lines.append(f"differ: {len(found.differences):,}")
    lines += [f"  {_difference(leaf)}" for leaf in found.differences[:most]]
    if most is not None and len(found.differences) > most:
        lines.append(Message("verify.more", n=len(found.differences) - most))
    lines += [Message("verify.not_recomputed", what=what) for what in found.unchecked]
    if found.counted:
        lines.append(Message("verify.counted_again"))
    elif found.of_counts and found.counted is None:
        lines.append(Message("verify.not_counted_again"))
    for document in found.documents:
        lines += _document(document, most)
    return [*lines, _scope(found), *found.scope.on_word, _summary(found)]


def _document(document: Document, most: int | None) -> list[str | Message]:
    """Say how a document differs from the one that the results give."""
    name, pairs = document.name, document.differences
    if document.state == "charts":
        return [Message("verify.charts_differ", file=name)]
    if document.state == "same":
        return []
    if document.why is not None:
        return [Message("verify.not_made", file=name, why=document.why)]
    lines: list[str | Message] = [Message("verify.document_differs", file=name, n=len(pairs))]
    lines += [
        Message("verify.document_difference", shown=_cut(a) or "-", given=_cut(b) or "-")
        for a, b in pairs[:most]
    ]
    if most is not None and len(pairs) > most:
        lines.append(Message("verify.more", n=len(pairs) - most))
    return lines


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= 200 else text[:197] + "..."


def _scope(found: Verification) -> Message:
    """Say in one line what was and what was not checked."""
    read = found.figures + len(found.differences) > 0
    checked = [Message("verify.scope.inputs", n=len(found.inputs))] if found.inputs else []
    checked += [Message("verify.scope.results")] if read else []
    checked += [plain(document.name) for document in found.documents]
    not_checked: list[Message] = [] if read else [Message("verify.scope.results")]
    if not any(document.name == PAGE for document in found.documents):
        not_checked.append(Message("verify.scope.no_page"))
    else:
        not_checked.append(Message("verify.scope.date"))
    if found.scope.attached:
        checked.append(Message("verify.scope.attachment"))
    not_checked.append(Message("verify.scope.paper"))
    not_checked += found.scope.not_compared
    not_checked += [Message("verify.scope.history")] if found.unchecked and read else []
    return Message("verify.scope_line", checked=checked or "-", not_checked=not_checked)


def _versions(found: Verification) -> Message:
    other = [
        f"{name} {old or 'none'} (here {new or 'none'})"
        for name, (old, new) in found.versions.items()
        if old != new
    ]
    if not other:
        return Message("verify.same_versions")
    return Message("verify.other_versions", versions=other)


def _input(state: InputState) -> str:
    if state.state == "missing":
        return f"input {state.path}: missing: {state.why}"
    if state.state == "changed":
        return f"input {state.path}: changed: recorded SHA-256 {state.recorded}, found {state.found}"
    return f"input {state.path}: unchanged"


def _difference(leaf: Leaf) -> str:
    if leaf.kind == "one side":
        return f"{leaf.where}: {Message('verify.lost' if leaf.recomputed is None else 'verify.new')}"
    return f"{leaf.where}: recorded {_shown(leaf.recorded)}, recomputed {_shown(leaf.recomputed)}"


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:197] + "..."


def _summary(found: Verification) -> Message:
    changed = sum(state.state == "changed" for state in found.inputs)
    missing = sum(state.state == "missing" for state in found.inputs)
    if changed:
        return Message("verify.changed", n=changed)
    if found.outcome == "differs":
        return Message("verify.differs")
    if missing or not found.inputs:
        return Message("verify.cannot")
    if found.outcome != "agrees":
        return Message("verify.agrees_in_part")
    return Message("verify.agrees_but" if found.scope.on_word else "verify.agrees")
