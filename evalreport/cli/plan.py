"""``evalreport plan``: how many examples are needed, or which difference is detectable; nothing is read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from evalreport.errors import UsageError

if TYPE_CHECKING:
    from evalreport.comparisons.answers import Answer

POSITIVE = click.FloatRange(min=0, min_open=True)
# \b keeps click from joining the lines of a paragraph.
HELP = """Say how many examples are needed, or what they can show.

No file is read: the answers rest on what is assumed, which is printed beside them. Without a question, the
smallest differences that usual numbers of examples show.

\b
evalreport plan --half-width 0.02                   an accuracy to within ± 2 points
evalreport plan --difference 0.02 --expected 0.9    two models, 2 points apart
evalreport plan -n 500                              what 500 examples show
"""
SHARE = click.FloatRange(min=0, max=1, min_open=True, max_open=True)


@click.command("plan", help=HELP)
@click.option("--half-width", type=POSITIVE, metavar="X", help="Ask: examples for an interval of ± X.")
@click.option("--difference", type=POSITIVE, metavar="X", help="Ask: examples to find a difference of X.")
@click.option("-n", "--examples", type=click.IntRange(min=2), metavar="N",
              help="Ask: what N examples show (smallest difference, half-width).")  # fmt: skip
@click.option("--measure", type=click.Choice(["accuracy", "mean", "auc"]), default="accuracy", show_default=True,
              help="What is measured: accuracy or any other proportion, the mean of a loss, or ROC AUC.")  # fmt: skip
@click.option("--layout", type=click.Choice(["one", "paired", "independent", "folds"]), default="paired",
              show_default=True,
              help="One model against a value, two on the same examples, two on sets of their own, or"
              " cross-validation.")  # fmt: skip
@click.option("--expected", type=click.FloatRange(0, 1), multiple=True, metavar="X",
              help="Expected accuracy or AUC; twice for two models (default: usual values).")  # fmt: skip
@click.option("--against", type=SHARE, metavar="X", help="The value that one model is compared with.")
@click.option("--discordance", type=click.FloatRange(min=0, max=1, min_open=True), metavar="X",
              help="Share of examples on which exactly one of the two models is right.")  # fmt: skip
@click.option("--sd", type=POSITIVE, metavar="X",
              help="Standard deviation: of a mean's values, of the per-example differences of two models, or of the"
              " fold differences.")  # fmt: skip
@click.option("--prevalence", type=SHARE, default=0.5, show_default=True, metavar="X",
              help="Share of positive examples, for AUC.")  # fmt: skip
@click.option("--folds", type=click.IntRange(min=2), default=10, show_default=True, metavar="K",
              help="Folds of the cross-validation.")  # fmt: skip
@click.option("--repeats", type=click.IntRange(min=1), metavar="R", help="Repeats of the cross-validation.")
@click.option("--power", type=SHARE, default=0.8, show_default=True, metavar="X",
              help="Wanted probability of finding the difference.")  # fmt: skip
@click.option("--confidence", type=SHARE, default=0.95, show_default=True, metavar="X",
              help="Level of the intervals; 1 − X is the level of the tests.")  # fmt: skip
@click.option("--pairs", type=click.IntRange(min=1), default=1, show_default=True, metavar="M",
              help="Comparisons that are corrected together (α is divided by M).")  # fmt: skip
@click.option("-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="How to print the plan.")  # fmt: skip
def plan_command(
    *, form: str, confidence: float, pairs: int, expected: tuple[float, ...], **asked: Any
) -> int:
    """Answer a question of planning and print it; the help text is HELP."""
    if len(expected) > 2:
        raise UsageError("--expected is given once for each of at most two models")
    _require_finite({**asked, "confidence": confidence, "expected": sum(expected)})
    from evalreport.comparisons.answers import Question, answers

    question = Question(**asked, expected=expected, alpha=(1 - confidence) / pairs)
    found = answers(question)
    click.echo(_as_json(found) if form == "json" else "\n\n".join(_as_text(answer) for answer in found))
    return 0


def _require_finite(values: Mapping[str, Any]) -> None:
    """Refuse nan and inf, which pass every range."""
    for name, value in values.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"--{name.replace('_', '-')}: {value} is no finite number")


def _as_text(answer: Answer) -> str:
    """Write one answer as a plain table with its formula and assumptions below."""
    rows = [(_written(row.answer, answer.unit), str(row.setting)) for row in answer.rows]
    head = (answer.unit, "if")
    width = max(len(cell) for cell, _ in [head, *rows])
    lines = [str(answer.question), ""]
    lines += [f"  {cell:>{width}}  {setting}" for cell, setting in [head, *rows]]
    lines += [
        "",
        f"  formula: {answer.formula}",
        f"  assumes: {answer.assumes}",
        f"  source:  {answer.source}",
    ]
    return "\n".join(lines)


def _written(value: float | None, unit: str) -> str:
    from evalreport.numbers import count, number

    if value is None:
        return "none"
    if unit in ("difference", "half-width"):
        return number(value, 4)
    return count(value)


def _as_json(found: tuple[Answer, ...]) -> str:
    from dataclasses import asdict

    content = {"schema": "evalreport/plan/1", "answers": [asdict(answer) for answer in found]}
    return json.dumps(content, ensure_ascii=False, allow_nan=False, sort_keys=True, indent=1, default=str)
