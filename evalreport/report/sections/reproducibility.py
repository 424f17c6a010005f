"""Reproducibility: the command, the options, the inputs' digests, the versions, how to verify."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from evalreport import numbers
from evalreport.config import Options
from evalreport.report.characters import shorten, visible
from evalreport.report.view import View
from evalreport.texts import say

EARLIER_RUN = re.compile(r"[<>=]\s*(accepted|last)\b|every\s+night\s*$")
FLAGS = {
    "metrics": "--metric",
    "intervals": "--interval",
    "tests": "--test",
    "slices": "--slice",
    "gates": "--gate",
}


@dataclass(frozen=True, slots=True)
class InputRow:
    """One input file."""

    path: str
    model: str
    rows: str
    digest: str


@dataclass(frozen=True, slots=True)
class Reproducibility:
    """What the section says."""

    command: str
    signature: str
    options: tuple[tuple[str, str], ...]
    inputs: tuple[InputRow, ...]
    environment: tuple[tuple[str, str], ...]
    verify: str


def describe(view: View) -> Reproducibility:
    """Say how the report came about."""
    results = view.results
    names = {m.id: m.name for m in view.models}
    inputs = tuple(
        InputRow(
            shorten(visible(i.path), 80),
            say("reproducibility.several") if i.model is None else names.get(i.model, visible(i.model)),
            numbers.count(i.rows),
            i.sha256,
        )
        for i in results.inputs
    )
    return Reproducibility(
        command=command(results.options),
        signature=results.signature,
        options=tuple(
            (key.replace("_", " "), _shown(value))
            for key, value in sorted(results.options.items())
            if _is_set(value)
        ),
        inputs=inputs,
        environment=tuple(sorted(results.environment.items())),
        verify=say("reproducibility.verify"),
    )


def command(options: Mapping[str, Any]) -> str:
    """Write the command that gives these results: every option that differs from its default."""
    # A gate about an earlier run is known to a history only.
    audited = any(EARLIER_RUN.search(gate) for gate in options.get("gates") or ())
    words = ["evalreport audit MODELS --history URL" if audited else "evalreport run MODELS"]
    for field in fields(Options):
        value = options.get(field.name, field.default)
        value = tuple(value) if isinstance(value, list) else value
        if value == field.default or value is None:
            continue
        flag = FLAGS.get(field.name, "--" + field.name.replace("_", "-"))
        if value is True:
            words.append(flag)
        else:
            values = value if isinstance(value, tuple) else (value,)
            words += [f"{flag} {shlex.quote(visible(str(v)))}" for v in values]
    return " ".join(words)


def _is_set(value: Any) -> bool:
    return value is not None and value is not False and value not in ((), [])


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(visible(str(v)) for v in value)
    return visible(str(value))
