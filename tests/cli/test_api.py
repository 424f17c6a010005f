"""The Python API: the same analysis, from the same options, in a notebook."""

from __future__ import annotations

import pytest

import evalreport as er
from evalreport.errors import UsageError


def test_fields_replace_those_of_the_options(fakes):
    """Options can be given whole, field by field, or both."""
    fakes.results  # noqa: B018 - the fake analysis is in place
    with pytest.raises(UsageError, match="did you mean confidence"):
        er.evaluate("models", confidnce=0.9)
    with pytest.raises(UsageError, match="between 0 and 1"):
        er.evaluate("models", confidence=90)


def test_names_that_are_not_there_are_an_attribute_error():
    """As for any module."""
    with pytest.raises(AttributeError, match="nonsense"):
        er.nonsense  # noqa: B018
    assert er.Options is er.Options
    assert "evaluate" in dir(er)
