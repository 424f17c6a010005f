"""What earlier versions recorded otherwise than this one: the differences that a comparison may expect."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evalreport.schema.recorded import EARLIER

KNOWN_CHANGES: Mapping[str, frozenset[tuple[str, str]]] = {
    EARLIER: frozenset({("verdicts", "code"), ("verdicts", "params"), ("warnings", "params")})
}
"""By schema: the lists and their fields that it does not have. Nothing else may differ, whatever version is claimed."""

FIELD = re.compile(r"(\w+)\[.*\]\.(\w+)", re.DOTALL)
"""A field of a record, as a comparison names it."""


def is_known(schema: object, where: str) -> bool:
    """Say whether a field that is not recorded is one that the schema of the results does not have.

    Examples
    --------
    >>> is_known("evalreport/results/1", "verdicts[a, b accuracy].params")
    True
    >>> is_known("evalreport/results/2", "verdicts[a, b accuracy].params")
    False
    """
    field = FIELD.fullmatch(where)
    return field is not None and field.groups() in KNOWN_CHANGES.get(str(schema), ())
