"""The JSON Schema of results.json, made from the records; ``make docs`` writes it beside this module."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from evalreport.schema.results import SCHEMA, SENTENCES, WITH_CODE, Results
from evalreport.texts import Message

SCHEMA_FILE = Path(__file__).with_name("results.schema.json")
DIALECT = "https://json-schema.org/draft/2020-12/schema"
PROMISE = (
    "The results of evalreport. While the schema has this name, fields are only added: a reader should ignore those"
    " that it does not know. Numbers that cannot be had are null, with a reason beside them."
)
TASKS = ("binary", "multiclass", "regression", "outcome", "scores", "clustering")
DESIGNS = (
    "test-set", "cross-validation", "5x2cv", "repeated-holdout", "bootstrap", "datasets", "seeds"
)  # fmt: skip
ENUMERATIONS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("Results", "task"): TASKS,
    ("Results", "design"): DESIGNS,
}
"""Fields that are texts in the records, and the values that they have."""

Node: TypeAlias = dict[str, Any]
TypeHint: TypeAlias = Any
_NAMES = {str: "string", int: "integer", bool: "boolean", Message: "string"}


def json_schema() -> str:
    """Return the schema as text: every field with its type, required fields and enumerations; others are allowed."""
    defs: dict[str, Node] = {}
    whole = _record(Results, defs)
    whole["properties"]["schema"] = {"const": SCHEMA}
    whole["properties"][SENTENCES] = {
        "type": "object",
        "description": "Code and parameters of every sentence, by its English text.",
        "additionalProperties": {"type": "object"},
    }
    whole["required"] = sorted([*whole["required"], SENTENCES])
    document = {
        "$schema": DIALECT,
        "$id": SCHEMA,
        "title": "results.json",
        **whole,
        "description": PROMISE,
        "$defs": defs,
    }
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _record(record: type, defs: dict[str, Node]) -> Node:
    """Return the schema of a record's object, and put those of the records inside it into ``defs``."""
    hints = get_type_hints(record)
    names = [entry.name for entry in dataclasses.fields(record)]
    properties = {name: _node(hints[name], defs) for name in names}
    for name in names:
        if (record.__name__, name) in ENUMERATIONS:
            properties[name] = {"enum": list(ENUMERATIONS[record.__name__, name])}
    if record in WITH_CODE:
        properties |= {"code": {"type": "string"}, "params": {"type": "object"}, "notes": {"type": "array"}}
    return {
        "type": "object",
        "description": _first_paragraph(record),
        "properties": properties,
        "required": sorted(names),
    }


def _node(hint: TypeHint, defs: dict[str, Node]) -> Node:
    origin: TypeHint = get_origin(hint)
    inside = get_args(hint)
    if dataclasses.is_dataclass(hint):
        return {"$ref": f"#/$defs/{_defined(hint, defs)}"}  # type: ignore[arg-type]
    if origin in (Union, types.UnionType):
        return _union(inside, defs)
    if origin is Literal:
        return {"enum": list(inside)}
    if origin is tuple:
        if inside[-1] is Ellipsis:
            return {"type": "array", "items": _node(inside[0], defs)}
        parts = [_node(part, defs) for part in inside]
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
    if origin is not None:  # a mapping
        return {"type": "object", "additionalProperties": _node(inside[1], defs)}
    if hint is float:
        return {"type": ["number", "null"]}  # a number that is not finite is null
    return {} if hint is Any else {"type": _NAMES[hint]}


def _union(choices: tuple[TypeHint, ...], defs: dict[str, Node]) -> Node:
    nodes: list[Node] = []
    for choice in choices:
        node = {"type": "null"} if choice is types.NoneType else _node(choice, defs)
        if node not in nodes:
            nodes.append(node)
    if all(node.keys() == {"type"} for node in nodes):
        kinds = [
            kind
            for node in nodes
            for kind in (node["type"] if isinstance(node["type"], list) else [node["type"]])
        ]
        found = list(dict.fromkeys(kinds))
        return {"type": found[0] if len(found) == 1 else found}
    if all("enum" in node or node == {"type": "null"} for node in nodes):
        return {"enum": [value for node in nodes for value in node.get("enum", [None])]}
    return {"anyOf": nodes}


def _defined(record: type, defs: dict[str, Node]) -> str:
    if record.__name__ not in defs:
        defs[record.__name__] = {}
        defs[record.__name__] = _record(record, defs)
    return record.__name__


def _first_paragraph(record: type) -> str:
    return re.sub(r"\s+", " ", (inspect.getdoc(record) or "").partition("\n\n")[0]).replace("``", "`")
