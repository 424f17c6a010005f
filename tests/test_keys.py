"""An option is a field that declares its flag, its key and its kind of value."""

from __future__ import annotations

from dataclasses import dataclass, fields

from evalreport.keys import Key, option
from evalreport.options import KEYS


@dataclass
class Sample:
    """One option."""

    n_max: int | None = option(None, "N", "5000", group="Analysis", short="-n", loading=True)


def test_a_field_keeps_its_default_and_declares_its_option() -> None:
    """The default is the field's; what is declared stands in its metadata."""
    assert Sample().n_max is None
    key = fields(Sample)[0].metadata["key"]
    assert key == Key("", "", "text", "N", "5000", "Analysis", short="-n", loading=True)


def test_the_kind_of_an_option_is_that_of_its_fields_type() -> None:
    """By a sample of the fields of a run."""
    keys = {key.field: key for key in KEYS}
    kinds = {"n_max": "integer", "noise": "number", "quiet": "flag", "gates": "list", "formats": "formats"}
    kinds |= {"truth": "path", "templates": "path", "title": "text", "join": "choice"}
    assert {name: keys[name].kind for name in kinds} == kinds
    assert keys["join"].choices == ("error", "intersect", "independent")


def test_a_flag_has_hyphens_where_a_key_has_underscores() -> None:
    """And its help is the catalogue's."""
    key = Key("n_max", "n_max", "integer", "N", "5000", "Analysis")
    assert key.flag == "--n-max"
    assert "examples" in key.summary
