"""How a file of delimited text is told to be written."""

from __future__ import annotations

from typing import Any

import pytest

from evalreport.sources.dialects import BrokenRecord, dialect_of, records


def told(text: str, usual: str = ",") -> Any:
    """Tell the dialect of a text."""
    return dialect_of(lambda: text.splitlines(keepends=True), usual)


@pytest.mark.parametrize(
    ("text", "delimiter", "comma"),
    [
        ("id,p\n1,0.5\n", ",", False),
        ("id;p\n1;0,5\n2;0,25\n", ";", True),
        ("id;p\n1;0.5\n", ";", False),
        ("sep=;\nid;p\n1;0,5\n", ";", True),
        ("sep=|\nid|p\n1|0.5\n", "|", False),
        ('id,text\n1,"a;b;c"\n', ",", False),
        ("id;text\n", ";", False),
    ],
)
def test_separator_and_decimal_mark(text: str, delimiter: str, comma: bool) -> None:
    """By the header and the first records; a first line for Excel decides."""
    found = told(text)
    assert (found.delimiter, found.decimal_comma) == (delimiter, comma)
    assert found.announced == text.startswith("sep=")


def test_a_tab_separated_file_keeps_its_commas() -> None:
    """The name of the file says what separates; decimal commas are told there too."""
    found = told("id\tp\n1\t0,5\n2\t0,75\n", usual="\t")
    assert (found.delimiter, found.decimal_comma) == ("\t", True)


@pytest.mark.parametrize(("text", "nameless"), [("id,p\n1,2,3\n2,3,4\n", True), ("id,p\n1,2\n", False)])
def test_row_names_have_a_column_without_a_name(text: str, nameless: bool) -> None:
    """R writes one cell more in each row than in the header."""
    assert told(text).nameless is nameless


def test_a_writer_that_quotes_all_text_is_told() -> None:
    """Then NA without quotes is a missing value, and with quotes a label."""
    assert told('"id","y_true"\n"a","yes"\n"b",NA\n').quotes_text is True
    assert told("id,y_true\na,yes\nb,NA\n").quotes_text is False


def test_a_record_may_span_lines() -> None:
    """Its line is the one on which it begins."""
    found = list(records(["id,text\n", '1,"two\n', 'lines"\n', "2,one\n"], ","))
    assert [(record.line, record.cells) for record in found] == [
        (1, ["id", "text"]), (2, ["1", "two\nlines"]), (4, ["2", "one"]),
    ]  # fmt: skip
    assert found[1].quoted() == [False, True]


def test_a_quote_without_end_names_its_line() -> None:
    """The one on which the record begins."""
    with pytest.raises(BrokenRecord) as caught:
        list(records(["id,text\n", '1,"open\n', "2,b\n"], ","))
    assert caught.value.line == 2
