"""What the glossary says of each test."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from evalreport.report.sections import glossary
from evalreport.report.view import view_of
from evalreport.schema.results import Results

Simulate = Callable[..., Results]


def test_independent_test_sets_are_not_said_to_share_examples(simulate: Simulate) -> None:
    """With --join independent no sentence claims that the models were asked the same questions."""
    found = simulate()
    apart = dataclasses.replace(found, options=dict(found.options) | {"join": "independent"})
    assert not any("same examples" in text for text in glossary.describe_glossary(view_of(apart)).principles)
