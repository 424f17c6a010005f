"""A section of a Hugging Face model card: the results as a model index in YAML, and as a table."""

from __future__ import annotations

import json
from collections.abc import Iterator

from evalreport.numbers import count
from evalreport.report.markdown import escaped
from evalreport.report.naming import metric_label
from evalreport.report.sections import decision, methods
from evalreport.report.sections.leaderboard import key_metrics
from evalreport.report.table import value_cell
from evalreport.report.tables import plain_number
from evalreport.report.view import View
from evalreport.schema.metrics import Quantity
from evalreport.texts import say
from evalreport.texts.visible import visible

NEEDED = "[More Information Needed]"
"""Where a person must write; the mark of the model cards' own template."""
TASKS = {
    "binary": "classification",
    "multiclass": "classification",
    "regression": "regression",
    "clustering": "clustering",
}


def model_card(view: View) -> str:
    """Return the card: metadata between two lines ``---``, then results, and marks where a person must write.

    Source: github.com/huggingface/hub-docs, modelcard.md (the model index).
    """
    keys = _keys(view)
    lines = ["---", "model-index:", *_index(view, keys), "---", "", f"## {say('card.evaluation')}", ""]
    for heading in ("card.data", "card.factors"):
        lines += [f"### {say(heading)}", "", NEEDED, ""]
    n = say("card.examples", examples=count(view.results.n))
    lines += [f"### {say('card.results')}", "", f"**{_text(decision.describe(view).headline)}**", "", n, ""]
    lines += _table(view, keys)
    lines += ["", f"### {say('card.methods')}", "", _text(methods.describe(view).text)]
    signature = say("summary.signature", signature=view.results.signature)
    return "\n".join([*lines, "", _text(signature), ""])


def _text(text: str) -> str:
    return str(escaped(text.strip()))


def _keys(view: View) -> tuple[Quantity, ...]:
    """Return the metrics of the main table, the primary one first, of which some model has a value."""
    return tuple(
        key
        for key in key_metrics(view)
        if any((r := view.record(m.id, key)) and r.value is not None for m in view.models)
    )


def _index(view: View, keys: tuple[Quantity, ...]) -> Iterator[str]:
    task = TASKS.get(view.results.task, "other")
    for model in view.models:
        yield f"- name: {_quoted(model.full)}"
        yield "  results:"
        yield f"  - task:\n      type: {task}"
        yield f"    dataset:\n      name: {_quoted(NEEDED)}\n      type: {_quoted(NEEDED)}"
        records = [(key, record) for key in keys if (record := view.record(model.id, key))]
        values = [(key, record.value) for key, record in records if record.value is not None]
        yield "    metrics:" if values else "    metrics: []"
        for key, value in values:
            yield f"    - type: {key.metric}"
            yield f"      value: {_yaml_number(value)}"
            yield f"      name: {_quoted(metric_label(key))}"
            if key.average is not None:
                yield f"      args:\n        average: {key.average}"


def _table(view: View, keys: tuple[Quantity, ...]) -> list[str]:
    heads = [say("table.model"), *map(metric_label, keys)]
    rows = [[model.full, *(_value(view, model.id, key) for key in keys)] for model in view.models]
    marks = [":--", *["--:"] * len(keys)]
    return [
        f"| {' | '.join(row)} |"
        for row in ([_text(h) for h in heads], marks, *([_text(c) for c in r] for r in rows))
    ]


def _value(view: View, model: str, key: Quantity) -> str:
    return value_cell(view.record(model, key), view.digits(key)).text


def _quoted(text: str) -> str:
    """Write a text as JSON, which YAML reads as the same; characters without a shape are visible in it."""
    return json.dumps(visible(text), ensure_ascii=False)


def _yaml_number(value: float) -> str:
    """Write a number that YAML 1.1 takes for one: it wants a point before the exponent.

    Examples
    --------
    >>> _yaml_number(0.5), _yaml_number(1e-7), _yaml_number(2.0)
    ('0.5', '1.0e-07', '2.0')
    """
    text = plain_number(value)
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}{e}{exponent}"
