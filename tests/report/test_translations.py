"""A user's texts.toml that is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evalreport.errors import OutputError
from evalreport.options import OutputOptions
from evalreport.report import render
from evalreport.report.brand import TemplateError
from evalreport.report.translations import catalogue_of
from evalreport.schema.results import Results

Simulate = Callable[..., Results]


@pytest.mark.parametrize(
    "text, said",
    [
        ("[table]\nmodl = 'x'", "unknown key 'table.modl'"),
        (
            "[leaderboard]\nversus = 'gegen {modell}'",
            "leaderboard.versus has no placeholder {modell}; there are: {model}",
        ),
        ("[table]\nmodel = 3", "table.model must be a text in quotes"),
        ("[table]\nmodel = {one = 'x', other = 'y'}", "table.model has no plural forms"),
        ("[table", "at the end of a table declaration"),
    ],
)
def test_a_wrong_translation_is_said_with_file_and_key(tmp_path: Path, text: str, said: str) -> None:
    """Each mistake in texts.toml has one message that names the file and the key."""
    (tmp_path / "texts.toml").write_text(text)
    with pytest.raises(TemplateError, match=re.escape(said)) as raised:
        catalogue_of(tmp_path)
    assert "texts.toml" in str(raised.value)


@pytest.mark.usefixtures("templates_here")
def test_a_wrong_translation_leaves_the_numbers(simulate: Simulate, tmp_path: Path) -> None:
    """Without its texts no page can be made; results.json is, and the run ends with 4."""
    (tmp_path / "texts.toml").write_text("[table]\nmodl = 'x'")
    options = OutputOptions(formats=("html", "json", "md"), templates=tmp_path)
    with pytest.raises(
        OutputError, match=r"no report\.html and no summary\.md was made: .*'table\.modl'"
    ) as raised:
        render(simulate(), tmp_path / "out", options=options)
    assert raised.value.exit_code == 4
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"results.json"}
