"""The list of sections: a module that is written is also shown."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import pytest

from evalreport.report import sections
from evalreport.report.sections import SECTIONS

PARTS = {"leaderboard"}
"""Modules that describe a part of another section."""


@pytest.mark.parametrize("name", sorted({module.name for module in iter_modules(sections.__path__)} - PARTS))
def test_every_module_of_a_section_is_in_the_list(name: str) -> None:
    """One that SECTIONS does not name is in no report: add its line there."""
    module = import_module(f"{sections.__name__}.{name}")
    assert [s.name for s in SECTIONS if s.describe.__module__ == module.__name__]
