"""One meaning for one value, in every form in which people bring it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalreport as er
from evalreport.errors import InputError
from evalreport.predictions.spelling import MISSING_WORDS
from evalreport.predictions.table import Predictions
from tests.samples.cases import every, quick
from tests.samples.prediction_files import Write
from tests.samples.same_table import FORMS, in_form

Content = Callable[[Predictions], dict[str, Any]]
IDS = [f"e{place}" for place in range(8)]
SEEN = {
    "id": IDS,
    "y_true": ["US", "US", "CA", "CA"] * 2,
    "y_pred": ["US", "CA", "CA", "US", "US", "US", "CA", "CA"],
}
SAME_NUMBERS = {
    "a negative zero": [0.0, 1.0, -0.0, 1.0] * 2,
    "a plus": ["0", "+1", "0", "1"] * 2,
    "an exponent": ["0", "1e0", "0", "1.0E+00"] * 2,
    "decimals": ["0.0", "1", "0", "1.00"] * 2,
    "true and 1": ["False", "True", "0", "1"] * 2,
}


@pytest.fixture
def plain(content: Content) -> Callable[[Any], dict[str, Any]]:
    """Return what an analysis reads, but for ids: an array without ids has positions."""

    def _plain(predictions: Predictions) -> dict[str, Any]:
        return content(predictions)

    return _plain


MISSING = [None, *MISSING_WORDS, " NA "]


@pytest.mark.parametrize("form", every(2, FORMS))
def test_a_word_for_a_missing_value_is_refused(form: str, tmp_path: Path) -> None:
    """Each of them, with its name and the remedies, as an empty cell is; in other forms than CSV two of them.

    That each is a missing value in every form is the next test.
    """
    for word in MISSING if form == "csv" else (None, " NA "):
        models = in_form(form, {**SEEN, "y_pred": [word, *SEEN["y_pred"][1:]]}, tmp_path)
        with pytest.raises(InputError, match="--missing drop") as caught:
            er.load(models)
        for said in () if word is None else (repr(word), "stands for a missing value", "--labels"):
            assert said in str(caught.value), word


@pytest.mark.parametrize("form", every(3, FORMS))
def test_words_for_missing_values_are_empty_cells(form: str, tmp_path: Path, plain: Any) -> None:
    """Every one of them is left out or counted as wrong, in every form."""
    n = len(MISSING)
    table = {
        "id": [*IDS, *(f"missing{place}" for place in range(n))],
        "y_true": [*SEEN["y_true"], *["US"] * n],
        "y_pred": [*SEEN["y_pred"], *MISSING],
    }
    models = in_form(form, table, tmp_path)
    assert plain(er.load(models, missing="drop")) == plain(er.load({"m": SEEN}))
    wrong = er.load(models, missing="wrong")
    assert (wrong.outside, np.count_nonzero(wrong.models[0].y_pred >= len(wrong.classes))) == (1, n)


@pytest.mark.parametrize("form", FORMS)
def test_a_label_that_is_called_na_is_asked_for(form: str, tmp_path: Path, plain: Any) -> None:
    """Namibia is a class where ``--labels`` says so, in every form."""
    table = {**SEEN, "y_true": ["NA", *SEEN["y_true"][1:]], "y_pred": ["NA", *SEEN["y_pred"][1:]]}
    read = er.load(in_form(form, table, tmp_path), labels=["NA"])
    assert read.classes == ("CA", "NA", "US")
    assert plain(read) == plain(er.load({"m": table}, labels=["NA,None"]))


@pytest.mark.parametrize("form", every(3, FORMS))
@pytest.mark.parametrize("column", ["score", "p_US"])
def test_a_word_among_numbers_is_an_empty_cell(form: str, column: str, tmp_path: Path) -> None:
    """A number that is missing is refused by its line as an empty cell is, and left out with ``--missing drop``."""
    numbers = [*["0.25", "0.75", "0.125"] * 2, "0.5", "NA"]
    models = in_form(form, {"id": IDS, "y_true": SEEN["y_true"], column: numbers}, tmp_path)
    with pytest.raises(InputError, match="'NA' stands for a missing value"):
        er.load(models)
    assert len(er.load(models, missing="drop").ids) == 7


@pytest.mark.parametrize("form", quick(FORMS, ["csv", "parquet", "pandas"]))
@pytest.mark.parametrize("labels", SAME_NUMBERS.values(), ids=SAME_NUMBERS.keys())
def test_labels_that_are_one_number_are_one_class(
    form: str, labels: list[Any], tmp_path: Path, plain: Any
) -> None:
    """In every spelling that tools write, and in every form."""
    truth = [0, 1, 0, 1] * 2
    read = er.load(in_form(form, {"id": IDS, "y_true": truth, "y_pred": labels}, tmp_path))
    assert plain(read) == plain(er.load({"m": {"id": IDS, "y_true": truth, "y_pred": truth}}))


@pytest.mark.parametrize("form", FORMS)
def test_numbers_among_text_labels_are_one_class(form: str, tmp_path: Path) -> None:
    """101.0 is 101 beside other text; a leading zero makes another text of it."""
    table = {"id": IDS, "y_true": ["101", "x", "1e2", "007"] * 2, "y_pred": ["101.0", "x", "100", "7"] * 2}
    read = er.load(in_form(form, table, tmp_path))
    assert read.classes == ("007", "100", "101", "7", "x")
    assert any(w.code == "label_never_true" and "leading zeros" in str(w.text) for w in read.warnings)


@pytest.mark.parametrize(
    "label, how",
    [
        ("cat\u00a0", "spaces"),
        ("cat ", "spaces"),
        ("c\u200bat", "cannot be seen"),
        ("ca\u0308t", None),
        ("Cat", "capitals"),
    ],
)
@pytest.mark.parametrize("form", every(3, FORMS))
def test_labels_that_look_alike_are_named(form: str, label: str, how: str | None, tmp_path: Path) -> None:
    """By what they differ in."""
    true = "c\u00e4t" if how is None else "cat"
    table = {"id": IDS, "y_true": [true, "dog"] * 4, "y_pred": [label, "dog"] * 4}
    read = er.load(in_form(form, table, tmp_path))
    (text,) = [str(w.text) for w in read.warnings if w.code == "label_never_true"]
    assert (how or "form of Unicode") in text
    both = er.load(in_form(form, {**table, "y_true": [true, label] * 4}, tmp_path))
    assert ("labels_look_alike" in {w.code for w in both.warnings}) == (how != "capitals")


@pytest.mark.parametrize("positive", ["1", "1.0", "+1", "true", "True"])
@pytest.mark.parametrize("labels", [[0, 1], ["0", "1.0"], ["False", "True"], [False, True]])
def test_the_positive_class_in_any_spelling(positive: str, labels: list[Any]) -> None:
    """True and 1 are one spelling on the command line, too."""
    read = er.load({"m": {"y_true": labels * 4, "y_pred": labels * 4}}, positive=positive)
    assert read.positive == read.classes[1]


NUMERIC_IDS = {
    "decimals": ["0.0", "1.0", "10.0", "-2.0"],
    "signs": ["-0", "+1", "+10", "-2"],
    "a point": ["0.", "1.", "10", "-2"],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ids", NUMERIC_IDS.values(), ids=NUMERIC_IDS.keys())
def test_ids_that_are_one_number_are_one(form: str, ids: list[str], tmp_path: Path) -> None:
    """Where every id is a plain number, in whichever files."""
    table = {"y_true": [0, 1, 0, 1], "y_pred": [0, 1, 1, 1]}
    first = in_form(form, {"id": ids, **table}, tmp_path, "a")
    second = in_form(form, {"id": [0, 1, 10, -2], **table}, tmp_path, "b")
    models = first | second if isinstance(first, dict) else [first, second]
    assert er.load(models).ids.to_pylist() == ["-2", "0", "1", "10"]


@pytest.mark.parametrize("ids", [["001", "1"], ["1e2", "100"], ["1.0", "1", "x"], ["1.10", "1.1"]])
def test_ids_that_are_text_stay_text(ids: list[str], write: Write) -> None:
    """A leading zero, an exponent in a text file, any other text, and decimals that say something."""
    path = write("m.csv", "id,y_true,y_pred\n" + "".join(f"{own},1,1\n" for own in ids))
    assert er.load(path).ids.to_pylist() == sorted(ids)


@pytest.mark.parametrize("form", ["parquet", "jsonl", "npz", "pandas", "polars", "arrays"])
def test_an_exponent_counts_where_the_writer_made_numbers(form: str, tmp_path: Path) -> None:
    """1e2 in JSON, or a double of Parquet, is the id 100."""
    models = in_form(form, {"id": [1e2, 2.0], "y_true": [0, 1], "y_pred": [0, 1]}, tmp_path)
    assert er.load(models).ids.to_pylist() == ["100", "2"]


BERLIN = timezone(timedelta(hours=1))
INSTANTS = [datetime(2024, 3, 30, 22, 30, tzinfo=BERLIN) + timedelta(hours=place) for place in range(4)]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize(
    "unit, zone", [("ns", "UTC"), ("us", "Europe/Berlin"), ("s", "UTC"), ("ms", "Asia/Tokyo")]
)
def test_instants_are_one_id_and_one_slice_in_any_unit_and_zone(
    form: str, unit: str, zone: str, tmp_path: Path
) -> None:
    """Also beside a file of text, in which each writer spells them in its own way."""
    typed = pd.DatetimeIndex(INSTANTS).tz_convert(zone).as_unit(unit)
    table = {"y_true": [0, 1, 0, 1], "y_pred": [0, 1, 1, 1]}
    texts = [at.isoformat(sep=" " if form == "csv" else "T") for at in INSTANTS]
    in_form(form, {"id": texts, "at": texts, **table}, tmp_path, "text")
    pd.DataFrame({"id": typed, "at": typed, **table}).to_parquet(tmp_path / "typed.parquet")
    read = er.load(tmp_path, slices=["at"])
    assert read.ids.to_pylist() == [f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z" for at in INSTANTS]
    assert read.metadata["at"].categories == tuple(read.ids.to_pylist())


def test_a_day_is_its_midnight(tmp_path: Path) -> None:
    """Pandas writes midnights as days where a column holds nothing else."""
    days = pd.date_range("2024-01-01", periods=4)
    frame = pd.DataFrame({"id": days, "y_true": [0, 1, 0, 1], "y_pred": [0, 1, 1, 1]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "b.parquet")
    assert er.load(tmp_path).ids.to_pylist()[0] == "2024-01-01"


@pytest.mark.parametrize(
    "own, other, how",
    [
        ("007", "7", "leading zeros"),
        ("2024-03-30 22:00:00", "2024-03-30 22:00:00Z", "time zone"),
        ("img/7", "IMG/7", "capitals"),
        ("a\u00a0b", "a b", "spaces"),
        ("1e2", "100", "one number"),
    ],
)
def test_ids_that_do_not_match_say_what_differs(own: str, other: str, how: str, write: Write) -> None:
    """With one id of each side."""
    write("models/a.csv", f"id,y_true,y_pred\nx,1,1\n{own},1,1\n")
    folder = write("models/b.csv", f"id,y_true,y_pred\nx,1,1\n{other},1,1\n").parent
    with pytest.raises(InputError, match=f"which differs from .* in .*{how}.* alone"):
        er.load(folder)


def r_file(rows: str) -> str:
    """Return a file as R's ``write.csv`` writes it: text in quotes, NA bare."""
    return '"","id","y_true","y_pred"\n' + rows


def test_r_quotes_text_and_leaves_its_own_na_bare(write: Write, codes_of: Any) -> None:
    """A quoted NA is a label, and said; a bare one is missing."""
    rows = "".join(f'"{i}","e{i}","{label}","{label}"\n' for i, label in enumerate(["NA", "US"] * 4))
    read = er.load(write("m.csv", r_file(rows)))
    assert read.classes == ("NA", "US")
    assert codes_of(read).count("quoted_words") == 1
    assert "quoted_words" not in codes_of(er.load(write("m.csv", r_file(rows)), labels=["NA"]))
    path = write("m.csv", r_file(rows + '"9","e9","US",NA\n'))
    with pytest.raises(InputError, match="line 10, column 'y_pred': 'NA' stands for a missing value"):
        er.load(path)
    assert len(er.load(path, missing="drop").ids) == 8


def test_lines_that_end_in_two_ways_change_nothing_of_it(write: Write) -> None:
    """They are read one by one, with the same meaning."""
    rows = '"1","a","NA","NA"\r\n"2","b","US",NA\n"3","c,NA,","US","US"\n'
    read = er.load(write("m.csv", r_file(rows)), missing="drop")
    assert read.ids.to_pylist() == ["a", "c,NA,"]
    assert read.classes == ("NA", "US")


@pytest.mark.parametrize("form", FORMS)
def test_a_table_is_the_same_in_every_form(form: str, tmp_path: Path, plain: Any) -> None:
    """Everything that an analysis reads but the files, and the cautions about it."""
    rng = np.random.default_rng(4)
    n = 60
    truth = rng.integers(0, 2, n)
    table = {
        "ID": list(range(100, 100 + n)),
        "Y_TRUE": truth.tolist(),
        "P_1": np.clip(0.5 * truth + rng.random(n) / 2, 0, 1).round(3).tolist(),
        "site": [None if place % 9 == 0 else f"s{place % 3}" for place in range(n)],
    }
    wanted, found = (
        er.load(source, slices=["site"])
        for source in ({"m": pd.DataFrame(table)}, in_form(form, table, tmp_path))
    )
    assert plain(found) == plain(wanted)
    assert [w.code for w in found.warnings] == [w.code for w in wanted.warnings]
