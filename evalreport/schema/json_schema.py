"""The JSON Schema of results.json, which msgspec makes of the records; ``make docs`` writes it beside this module."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from evalreport.schema.decisions import VerdictRecord
from evalreport.schema.results import SCHEMA, SENTENCES, Results
from evalreport.schema.warnings import WarningRecord

SCHEMA_FILE = Path(__file__).with_name("results.schema.json")
DIALECT = "https://json-schema.org/draft/2020-12/schema"
PROMISE = (
    "The results of evalreport. While the schema has this name, fields are only added: a reader should ignore those"
    " that it does not know. Numbers that cannot be had are null, with a reason beside them."
)
TASKS = ("binary", "multiclass", "regression", "outcome", "scores", "clustering", "sums", "intervals", "sets")
DESIGNS = (
    "test-set", "cross-validation", "5x2cv", "repeated-holdout", "bootstrap", "datasets", "seeds"
)  # fmt: skip

Node: TypeAlias = dict[str, Any]
ADDED: Mapping[str, Node] = {
    "Results": {
        "schema": {"const": SCHEMA},
        "task": {"enum": list(TASKS)},
        "design": {"enum": list(DESIGNS)},
        SENTENCES: {
            "type": "object",
            "description": "Code and parameters of every sentence, by its English text.",
            "additionalProperties": {"type": "object"},
        },
    }
}
"""Properties that the types of the records do not tell, by record."""
OF_A_CODE: Node = {"code": {"type": "string"}, "params": {"type": "object"}, "notes": {"type": "array"}}
"""Properties of a record whose sentence is written with its code; a sentence of another version has none."""


def json_schema() -> str:
    """Return the schema as text: every field with its type, required fields and enumerations; others are allowed."""
    _, nodes = msgspec.json.schema_components(
        (Results,), schema_hook=lambda _message: {"type": "string"}, ref_template="#/$defs/{name}"
    )
    defs = {name: _described(node, ADDED.get(name, {})) for name, node in nodes.items()}
    for record in (VerdictRecord, WarningRecord):
        defs[record.__name__]["properties"] = OF_A_CODE | defs[record.__name__]["properties"]
    whole = defs.pop("Results")
    document = {
        "$schema": DIALECT,
        "$id": SCHEMA,
        **whole,
        "title": "results.json",
        "description": PROMISE,
        "$defs": defs,
    }
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _described(node: Node, added: Node) -> Node:
    """Return the schema of a record's object: what is written has every field, and no default stands for one."""
    properties = {
        name: {key: part for key, part in field.items() if key != "default"}
        for name, field in node["properties"].items()
    } | added
    text = node["description"].partition("\n\n")[0]
    return {
        "type": "object",
        "description": re.sub(r"\s+", " ", text).replace("``", "`"),
        "properties": properties,
        "required": sorted(properties),
    }
