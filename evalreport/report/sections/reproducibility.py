"""The command, inputs and versions that give the same results again."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from evalreport import numbers
from evalreport.gates.conditions import asks_an_audit
from evalreport.options import KEYS, Options
from evalreport.report.table import Row, Table, headings
from evalreport.report.view import View
from evalreport.schema.results import Results
from evalreport.texts import say
from evalreport.texts.visible import shorten, visible


@dataclass(frozen=True, slots=True)
class Reproducibility:
    """What the section says."""

    command: str
    signature: str
    options: tuple[tuple[str, str], ...]
    inputs: Table
    environment: tuple[tuple[str, str], ...]
    verify: str


def describe_reproducibility(view: View) -> Reproducibility:
    """Say how the report came about."""
    results = view.results
    names = {m.id: m.full for m in view.models}
    rows = []
    for i in results.inputs:
        model = say("reproducibility.several") if i.model is None else names.get(i.model, visible(i.model))
        rows.append(Row(None, (model, numbers.count(i.rows), i.sha256), shorten(visible(i.path), 80)))
    heads = map(say, ("table.model", "reproducibility.rows", "reproducibility.digest"))
    inputs = Table(
        say("reproducibility.inputs"), headings(heads, "text,number,digest"), tuple(rows), look="inputs",
        first=say("reproducibility.file"),
    )  # fmt: skip
    return Reproducibility(
        command=command(results),
        signature=results.signature,
        options=tuple(
            (key.replace("_", " "), _shown(value))
            for key, value in sorted(results.options.items())
            if value is not None
            and value is not False
            and value not in ((), [])
            and (key != "average" or results.suite)  # else it changes nothing
        ),
        inputs=inputs,
        environment=tuple(sorted(results.environment.items())),
        verify=say("reproducibility.verify"),
    )


def command(results: Results) -> str:
    """Write the command that gives these results: every option that differs from its default."""
    options = results.options
    # A gate about an earlier run needs a history, and so an audit.
    asked = any(asks_an_audit(gate, models=results.models) for gate in options.get("gates") or ())
    first = results.headline is not None and results.headline.code == "first_run"
    audited = asked or first or bool(results.audit or results.history or results.evidence)
    words = ["evalreport audit MODELS --history URL" if audited else "evalreport run MODELS"]
    defaults = Options()
    for key in KEYS:
        default = getattr(defaults, key.field, None)
        value = options.get(key.field, default)
        value = tuple(value) if isinstance(value, list) else value
        if value == default or value is None:
            continue
        if value is True:
            words.append(key.flag)
        else:
            values = value if isinstance(value, tuple) else (value,)
            words += [f"{key.flag} {shlex.quote(visible(str(v)))}" for v in values]
    return " ".join(words)


def _shown(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(visible(str(v)) for v in value)
    return visible(str(value))
