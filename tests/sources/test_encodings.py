"""Text in another encoding is read as if it had been UTF-8, or refused with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from evalreport.errors import InputError, UsageError
from evalreport.loading.load import load
from evalreport.options import Options

ROWS = "id,y_true,y_pred,town\n1,a,a,Köln\n2,b,a,Nîmes\n3,a,a,Köln\n"


def towns(path: Path, encoding: str) -> list[str]:
    """The column of towns as it was read."""
    predictions = load(path, options=Options(encoding=encoding))
    town = predictions.metadata["town"]
    assert town.categories is not None
    return [town.categories[int(code)] for code in town.values]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8", "utf-8-sig"])
@pytest.mark.parametrize("zipped", [False, True])
def test_every_encoding_gives_the_same_texts(tmp_path: Path, encoding: str, zipped: bool) -> None:
    """Also of a gzipped file."""
    data = ROWS.encode(encoding)
    path = tmp_path / ("model.csv.gz" if zipped else "model.csv")
    path.write_bytes(gzip.compress(data) if zipped else data)
    assert towns(path, encoding) == ["Köln", "Nîmes", "Köln"]


def test_an_unknown_encoding_is_refused_by_name(tmp_path: Path) -> None:
    """With others to name."""
    (tmp_path / "model.csv").write_text(ROWS, encoding="utf-8")
    with pytest.raises(UsageError, match="--encoding klingon: no such encoding"):
        load(tmp_path / "model.csv", options=Options(encoding="klingon"))


def test_a_byte_of_no_letter_is_refused_with_its_line(tmp_path: Path) -> None:
    """The third line of the file holds it."""
    (tmp_path / "model.csv").write_bytes(ROWS.encode("latin-1"))
    with pytest.raises(InputError) as caught:
        load(tmp_path / "model.csv", options=Options(encoding="ascii"))
    assert "line 2" in str(caught.value)
