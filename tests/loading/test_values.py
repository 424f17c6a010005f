"""What values decide: words for nothing, labels with a prefix, numbers in local dress."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import evalreport as er
from evalreport.cli import main
from evalreport.errors import InputError, UsageError
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from tests.samples.cases import crossed, every
from tests.samples.prediction_files import Write
from tests.samples.same_table import in_form

FORMS = ("csv", "parquet", "jsonl", "pandas")
TRUE = ["No", "No", "Yes", "Yes", "No", "Yes"]
PREDICTED = ["No", "Yes", "Yes", "Yes", "No", "No"]
IDS = list("abcdef")
CERTAIN = [r"\N", "(null)", "nil", "NaT", "N.A."]
DOUBTFUL = ["?", "-", "missing"]


def accuracy(read: Predictions) -> float:
    """The share of right labels, by numpy."""
    assert read.y_true is not None
    assert read.models[0].y_pred is not None
    return float(np.mean(read.y_true == read.models[0].y_pred))


def rmse(read: Predictions) -> float:
    """The root of the mean squared error, by numpy."""
    assert read.y_true is not None
    assert read.models[0].y_pred is not None
    return float(np.sqrt(np.mean((read.y_true - read.models[0].y_pred) ** 2)))


@pytest.mark.parametrize(("word", "form"), crossed([*CERTAIN, *DOUBTFUL], FORMS))
def test_a_word_for_nothing_is_a_missing_label(word: str, form: str, tmp_path: Path) -> None:
    """Refused with the word; left out by the advice of the message, which says how many cells held it."""
    table = {"id": IDS, "y_true": [*TRUE[:5], word], "y_pred": PREDICTED}
    with pytest.raises(InputError, match="stands for a missing value") as caught:
        er.load(in_form(form, table, tmp_path))
    assert "--missing drop" in (caught.value.remedy or "")
    read = er.load(in_form(form, table, tmp_path), options=Options(missing="drop"))
    assert read.classes == ("No", "Yes")
    assert accuracy(read) == 4 / 5
    (record,) = [record for record in read.found if record.what == "missing"]
    assert str(record.value) == "1 cell"
    assert f"{word!r} in y_true (1)" in str(record.why)


@pytest.mark.parametrize("word", [*CERTAIN, *DOUBTFUL])
def test_a_word_for_nothing_is_a_class_where_labels_names_it(
    word: str, loaded: Callable[..., Predictions]
) -> None:
    """The other half of the advice."""
    read = loaded(f"id,y_true,y_pred\na,No,No\nb,Yes,Yes\nc,{word},{word}\n", labels=(word,))
    assert set(read.classes) == {"No", "Yes", word}


@pytest.mark.parametrize(("word", "other"), [("-", "+"), ("?", "!"), ("missing", "present")])
def test_a_word_beside_one_other_label_is_a_class(
    word: str, other: str, loaded: Callable[..., Predictions]
) -> None:
    """Credit approval has the classes + and -."""
    read = loaded(f"id,y_true,y_pred\na,{word},{word}\nb,{other},{word}\nc,{other},{other}\n")
    assert set(read.classes) == {word, other}
    assert accuracy(read) == 2 / 3


@pytest.mark.parametrize(("word", "form"), crossed([*CERTAIN, *DOUBTFUL], FORMS))
def test_a_word_for_nothing_is_a_missing_number_and_outcome(word: str, form: str, tmp_path: Path) -> None:
    """Of a regression, a score and a judgement."""
    drop = Options(missing="drop")
    numbers = {
        "id": IDS,
        "y_true": ["1.5", "2.5", word, "3", "4", "5"],
        "y_pred": ["1", "2", "3", word, "4", "5"],
    }
    read = er.load(in_form(form, numbers, tmp_path), options=drop)
    assert read.task == "regression"
    assert rmse(read) == pytest.approx(np.sqrt((0.25 + 0.25) / 4), abs=1e-12)
    scores = {"id": IDS, "y_true": TRUE, "score": ["1", "2", "3", word, "4", "5"]}
    assert len(er.load(in_form(form, scores, tmp_path), options=drop).ids) == 5
    judged = {"id": IDS, "outcome": ["1", "0", word, "1", "1", "0"]}
    outcome = er.load(in_form(form, judged, tmp_path), options=drop).models[0].outcome
    assert outcome is not None
    assert outcome.tolist() == [1, 0, 1, 1, 0]


def test_minus_100_among_codes_is_not_counted(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """PyTorch's ignore_index: a question, whose two answers work as they are printed."""
    text = "id,y_true,y_pred\na,4,4\nb,0,0\nc,-100,3\nd,3,3\ne,0,4\n"
    path = write("m.csv", text)
    assert main(["check", str(path)]) == 2
    said = capsys.readouterr().err
    assert "'-100' stands for a missing value" in said
    assert "--labels -100" in said
    assert main(["check", str(path), "--labels", "-100"]) == 0
    read = er.load(path, options=Options(missing="drop"))
    assert accuracy(read) == 3 / 4
    assert "-100" not in read.classes


def test_minus_100_that_is_predicted_or_a_value_is_no_gap(loaded: Callable[..., Predictions]) -> None:
    """A class of its own, and a number of a regression."""
    assert "-100" in loaded("id,y_true,y_pred\na,4,4\nb,0,0\nc,-100,-100\nd,3,3\n").classes
    numbers = loaded("id,y_true,y_pred\na,4.5,4\nb,0,0\nc,-100,3\nd,3,3\n")
    assert numbers.task == "regression"
    assert numbers.y_true is not None
    assert numbers.y_true.tolist() == [4.5, 0, -100, 3]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("true", "predicted"),
    [
        (["0", "1", "1", "0"], ["LABEL_0", "LABEL_1", "LABEL_0", "LABEL_0"]),
        (["ham", "spam", "spam", "ham"], ["__label__ham", "__label__spam", "__label__ham", "__label__ham"]),
        (["__label__ham", "__label__spam", "__label__spam", "__label__ham"], ["ham", "spam", "ham", "ham"]),
    ],
)
def test_a_prefix_of_labels_is_taken_off(
    true: list[str], predicted: list[str], form: str, tmp_path: Path
) -> None:
    """Of Hugging Face and fastText, on either side: 3 of 4 are right; and it is said."""
    table = {"id": list("abcd"), "y_true": true, "y_pred": predicted}
    read = er.load(in_form(form, table, tmp_path))
    assert accuracy(read) == 0.75
    assert any("with the prefix taken off" in str(record.why) for record in read.found)


DRESS = {
    "percent": ["2.49%", "3.1%", "10%", "7.25%"],
    "dollars": ["$1,013.50", "$950.00", "$2,554.87", "$12.00"],
    "Germany": ["1.013,50", "950,00", "2.554,87", "12,00"],
    "euros behind": ["1.013,50 €", "950,00 €", "2.554,87 €", "12,00 €"],
    "no-break space": ["1\u00a0013,50", "950,00", "2\u00a0554,87", "12,00"],
    "narrow no-break space": ["1\u202f013,50", "950,00", "2\u202f554,87", "12,00"],
    "thin space": ["1\u2009013,50", "950,00", "2\u2009554,87", "12,00"],
    "Switzerland": ["1'013.50", "950.00", "2'554.87", "12.00"],
    "Switzerland, typographic": ["1\u2019013.50", "950.00", "2\u2019554.87", "12.00"],
    "in brackets": ["(1,013.50)", "950.00", "2,554.87", "(12.00)"],
    "trailing minus": ["1013.50-", "950.00", "2554.87", "12.00-"],
}
PLAIN = {
    "percent": [2.49, 3.1, 10, 7.25],
    "in brackets": [-1013.5, 950, 2554.87, -12],
    "trailing minus": [-1013.5, 950, 2554.87, -12],
}


@pytest.mark.parametrize(("dress", "form"), crossed(DRESS, FORMS))
def test_numbers_in_local_dress_are_numbers(dress: str, form: str, tmp_path: Path) -> None:
    """Truth and predictions of one form; the difference of each pair is known, and the reading is said."""
    texts, numbers = DRESS[dress], PLAIN.get(dress, [1013.5, 950, 2554.87, 12])
    table = {"id": list("abcd"), "y_true": texts, "y_pred": [texts[1], texts[0], *texts[2:]]}
    read = er.load(in_form(form, table, tmp_path))
    assert read.task == "regression"
    assert read.y_true is not None
    assert read.y_true.tolist() == numbers
    assert rmse(read) == pytest.approx(np.sqrt(2 * (numbers[0] - numbers[1]) ** 2 / 4), rel=1e-12)
    assert any(record.what == "numbers" for record in read.found)


@pytest.mark.parametrize("form", every(2, FORMS))
def test_scores_and_probabilities_in_dress_are_numbers(form: str, tmp_path: Path) -> None:
    """A percent sign makes a probability a share; a score keeps its unit."""
    shared = {"id": IDS, "y_true": TRUE}
    percent = ["10%", "25.5%", "90%", "70%", "5%", "40%"]
    read = er.load(in_form(form, {**shared, "p_Yes": percent}, tmp_path))
    assert read.models[0].score is not None
    assert read.models[0].score.tolist() == pytest.approx([0.1, 0.255, 0.9, 0.7, 0.05, 0.4], abs=1e-15)
    money = ["$1,000.50", "$2", "$30,000", "$4", "$5", "$6"]
    scored = er.load(in_form(form, {**shared, "score": money}, tmp_path)).models[0].score
    assert scored is not None
    assert scored.tolist() == [1000.5, 2, 30000, 4, 5, 6]


def test_mixed_forms_are_refused_with_the_line(refused: Callable[..., InputError]) -> None:
    """The first cell that is not written as most are; however many rows there are, it is no classification."""
    rows = [f"r{k},{k}.5%,{k}.25%" for k in range(1, 30)]
    rows[10] = "r11,11.5,11.25%"
    error = refused("m.csv", "id,y_true,y_pred\n" + "\n".join(rows) + "\n")
    assert (error.line, error.column) == (12, "y_true")
    assert "'11.5' is not written as the other numbers" in error.problem


def test_a_separator_that_may_be_either_is_refused(refused: Callable[..., InputError]) -> None:
    """1,013 is one thousand and thirteen, or a little more than one."""
    rows = [f'r{k},"{k},{100 + k}","{k},{200 + k}"' for k in range(1, 30)]
    error = refused("m.csv", "id,y_true,y_pred\n" + "\n".join(rows) + "\n")
    assert "may be a decimal mark or one of thousands" in error.problem
    assert error.line == 2


def test_a_few_percentages_are_classes(loaded: Callable[..., Predictions]) -> None:
    """Doses of 10 % and 20 %: whole, few, and predicted as such."""
    read = loaded("id,y_true,y_pred\na,10%,10%\nb,20%,10%\nc,20%,20%\n")
    assert read.classes == ("10%", "20%")


def test_the_point_that_is_one_of_thousands_in_the_truth_is_one_in_the_predictions(
    loaded: Callable[..., Predictions],
) -> None:
    """1.234 beside 2.554,87 is 1234."""
    read = loaded('id,y_true,y_pred\na,"2.554,87",1.234\nb,"1.100,50",1.101\nc,"12,5",2.000\n')
    assert read.models[0].y_pred is not None
    assert read.models[0].y_pred.tolist() == [1234, 1101, 2000]


@pytest.mark.parametrize(("lone", "form"), crossed([False, True], FORMS))
def test_percent_and_logarithms_are_refused_with_the_option_that_reads_them(
    form: str, lone: bool, tmp_path: Path
) -> None:
    """Probabilities of each class, and the one of a binary task."""
    shares = np.array([0.1, 0.25, 0.9, 0.7, 0.05, 0.4])
    for scale, written in {"percent": 100 * shares, "log": np.log(shares)}.items():
        other = 100 * (1 - shares) if scale == "percent" else np.log1p(-shares)
        columns = {"probability": written} if lone else {"p_Yes": written, "p_No": other}
        table = {"id": IDS, "y_true": TRUE, **{name: own.tolist() for name, own in columns.items()}}
        with pytest.raises(InputError, match=f"--probabilities {scale}"):
            er.load(in_form(form, table, tmp_path))
        score = er.load(in_form(form, table, tmp_path), options=Options(probabilities=scale)).models[0].score
        assert score is not None
        assert score.tolist() == pytest.approx(shares.tolist(), abs=1e-12)


def test_probabilities_that_are_not_what_the_option_says_are_refused(
    refused: Callable[..., InputError],
) -> None:
    """Shares of 1 are not divided by 100."""
    text = "id,y_true,p_yes\na,yes,0.9\nb,no,0.2\n"
    assert "run from 0.2 to 0.9" in refused("m.csv", text, probabilities="percent").problem


@pytest.mark.parametrize(
    ("encoding", "named"), [("latin-1", "latin-1"), ("cp1252", "cp1252"), ("utf-16", "utf-16")]
)
@pytest.mark.parametrize("suffix", every(3, ["csv", "csv.gz", "jsonl"]))
def test_another_encoding_is_read_by_the_option_that_the_message_names(
    encoding: str, named: str, suffix: str, write: Write
) -> None:
    """Of R on Windows, of Excel; the label keeps its letters."""
    word = "größer\u2019s" if encoding == "cp1252" else "größer"
    if suffix == "jsonl":
        text = "".join(
            f'{{"id": "{k}", "y_true": "{v}", "y_pred": "{v}"}}\n' for k, v in (("a", word), ("b", "no"))
        )
    else:
        text = f"id,y_true,y_pred\na,{word},{word}\nb,no,no\n"
    path = write(f"m.{suffix}", text.encode(encoding))
    with pytest.raises(InputError) as caught:
        er.load(path)
    if not (encoding == "utf-16" and suffix == "jsonl"):
        assert f"--encoding {named}" in (caught.value.remedy or "")
    read = er.load(path, options=Options(encoding=encoding))
    assert word in read.classes
    assert read.inputs[0].path == f"m.{suffix}"


def test_an_unknown_encoding_and_a_wrong_one_are_one_message(write: Write) -> None:
    """With the line of the file."""
    path = write("m.csv", "id,y_true,y_pred\na,größer,x\n")
    with pytest.raises(UsageError, match="--encoding klingon: no such encoding"):
        er.load(path, options=Options(encoding="klingon"))
    with pytest.raises(InputError, match="not in the encoding ascii") as caught:
        er.load(path, options=Options(encoding="ascii"))
    assert caught.value.line == 2


def test_rows_of_one_task_id_are_attempts_where_the_file_is_said_to_mean_it(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    """HumanEval's samples have no number of the attempt; the option that the message names gives pass rates."""
    rows = [("0", True), ("0", False), ("1", True), ("1", True), ("2", False), ("2", False)]
    text = "task_id,completion,passed\n" + "".join(f"HumanEval/{k},x,{v}\n" for k, v in rows)
    path = write("m.csv", text)
    assert main(["check", str(path)]) == 2
    assert "pass --attempts-by task_id" in capsys.readouterr().err
    read = er.load(path, options=Options(attempts_by="task_id"))
    outcome = read.models[0].outcome
    assert outcome is not None
    assert outcome.tolist() == [0.5, 1, 0]
    assert main(["check", str(path), "--attempts-by", "nothing"]) == 2
    assert "which --attempts-by names" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("predicted", "words"),
    [
        (("Class_No", "Class_Yes"), "write 'Class_No' as 'No'"),
        (("no", "yes"), "write 'no' as 'No'"),
        (("A", "B"), "--task clustering"),
        (("No", "label Yes"), "write 'label Yes' as 'Yes'"),
    ],
)
def test_labels_by_other_names_are_refused_with_the_likely_ones(
    predicted: tuple[str, str], words: str, refused: Callable[..., InputError], write: Write
) -> None:
    """No model is right or wrong by its spelling; the option that the message names takes them as they are."""
    a, b = predicted
    text = f"id,y_true,y_pred\na,No,{a}\nb,Yes,{b}\nc,Yes,{a}\nd,No,{a}\n"
    error = refused("m.csv", text)
    assert words in (error.remedy or "")
    assert "--task multiclass" in (error.remedy or "")
    read = er.load(write("m.csv", text), options=Options(task="multiclass"))
    assert set(read.classes) == {"No", "Yes", a, b}


def test_a_label_that_is_never_true_is_no_question(loaded: Callable[..., Predictions]) -> None:
    """Beside labels that are."""
    assert set(loaded("id,y_true,y_pred\na,No,No\nb,Yes,Maybe\nc,Yes,No\n").classes) == {"No", "Yes", "Maybe"}


def test_parts_without_rows_are_no_rows(write: Write) -> None:
    """Spark writes empty files, and files of a header alone, for such partitions; a model of these alone is refused."""
    parts = {
        "0": "id,y_true,y_pred\na,1,1\nb,0,0\n",
        "1": "",
        "2": "id,y_true,y_pred\n",
        "3": "id,y_true,y_pred\nc,1,0\n",
    }
    for place, text in parts.items():
        folder = write(f"models/forest/part-0000{place}.csv", text).parent
    write("models/forest/_SUCCESS", "")
    read = er.load(folder.parent)
    assert (len(read.ids), accuracy(read)) == (3, 2 / 3)
    assert any(
        record.what == "empty parts" and str(record.value) == "2 files without rows" for record in read.found
    )
    write("models/logreg/part-00000.csv", "")
    write("models/logreg/part-00001.csv", "")
    with pytest.raises(InputError, match="holds no row"):
        er.load(folder.parent)


FORECASTS = (
    "unique_id,ds,cutoff,y,AutoARIMA,NHITS,NHITS-lo-90,NHITS-hi-90\n"
    "H1,2024-01-01,2023-12-31,10.5,10,11.5,9,14\nH1,2024-01-02,2023-12-31,11.5,12,11.5,9,14\n"
    "H2,2024-01-01,2023-12-31,20.5,20,19.5,18,21\n"
)


def test_forecasts_of_nixtla_are_found_by_the_option_that_the_message_names(
    write: Write, refused: Callable[..., InputError]
) -> None:
    """Series, times and models; errors of half a unit, and of one, 0 and one unit."""
    assert "pass --wide" in (refused("m.csv", FORECASTS).remedy or "")
    read = er.load(write("m.csv", FORECASTS), options=Options(wide=True))
    assert [model.name for model in read.models] == ["AutoARIMA", "NHITS"]
    assert read.y_true is not None
    errors = [
        float(np.abs(read.y_true - model.y_pred).mean()) for model in read.models if model.y_pred is not None
    ]
    assert errors == pytest.approx([0.5, 2 / 3], abs=1e-12)
    assert len(read.ids) == 3
    assert read.metadata["unique_id"].categories == ("H1", "H2")


def test_a_wide_column_that_is_no_model_is_named(write: Write) -> None:
    """An age beside labels; without it the table is read."""
    path = write("m.csv", "id,y_true,age,forest\n1,yes,30,yes\n2,no,40,no\n3,yes,50,no\n")
    with pytest.raises(InputError, match="'age' holds '30', '40', '50', none of which is a true label"):
        er.load(path, options=Options(wide=True))
    whole = write("n.csv", "id,y_true,forest\n1,yes,yes\n2,no,no\n3,yes,no\n")
    assert accuracy(er.load(whole, options=Options(wide=True))) == 2 / 3


@pytest.mark.parametrize("name", ["faithfulness", "bleu", "score_x"])
def test_a_lone_grade_is_named_by_its_option(
    name: str, write: Write, refused: Callable[..., InputError]
) -> None:
    """The option that the message names reads it."""
    text = f"id,model,{name}\nq1,a,0.5\nq2,a,0.75\nq1,b,0.25\nq2,b,1\n"
    assert f"--outcome {name}" in (refused("m.csv", text).remedy or "")
    read = er.load(write("m.csv", text), options=Options(outcome=name))
    assert [m.outcome.tolist() for m in read.models if m.outcome is not None] == [[0.5, 0.75], [0.25, 1]]


def test_predictions_without_a_truth_name_the_column_that_may_hold_it(
    refused: Callable[..., InputError],
) -> None:
    """Of probabilities, and of labels."""
    error = refused("m.csv", "id,customer_id,region,is_fraud,p\n1,c1,W,0,.2\n2,c2,E,1,.7\n3,c1,W,1,.6\n")
    assert "rename 'is_fraud' y_true" in (error.remedy or "")
    error = refused("n.csv", "id,region,species,y_pred\n1,W,cat,cat\n2,E,dog,cat\n3,W,dog,dog\n")
    assert "rename 'species' y_true" in (error.remedy or "")


def test_na_among_numbers_of_an_own_column_is_empty(loaded: Callable[..., Predictions]) -> None:
    """R's NA in an age, which is then cut into bins; among words it is a word."""
    read = loaded("id,y_true,y_pred,age,region\na,1,1,50,NA\nb,0,1,NA,W\nc,1,1,70,W\nd,0,0,20,E\n")
    assert read.metadata["age"].values.tolist() == pytest.approx([50, np.nan, 70, 20], nan_ok=True)
    assert read.metadata["region"].categories == ("E", "NA", "W")


def test_one_model_in_two_files_asks_for_names(write: Write) -> None:
    """Two versions of the same models in two folders."""
    text = "model,id,outcome\nm,a,1\nm,b,0\n"
    write("new/x.csv", text)
    folder = write("old/x.csv", text).parent.parent
    with pytest.raises(InputError) as caught:
        er.load([folder / "new/x.csv", folder / "old/x.csv"])
    assert "name" in (caught.value.remedy or "")


def test_a_pass_at_k_that_cannot_be_computed_is_shown_with_its_reason(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the terminal, the summary and the results."""
    rows = [f"{m},q{k},{v}" for m in "ab" for k in range(4) for v in (1, k % 2)]
    path = write("m.csv", "model,task_id,passed\n" + "\n".join(rows) + "\n")
    words = ["--attempts-by", "task_id", "-m", "mean_outcome", "-m", "pass@5", "--resamples", "50"]
    assert main(["run", str(path), *words, "-f", "json", "-f", "md", "-o", str(tmp_path / "r")]) == 0
    reason = "some question has fewer than 5 attempts"
    printed = " ".join(capsys.readouterr().out.split())
    summary = (tmp_path / "r/summary.md").read_text(encoding="utf-8")
    results = (tmp_path / "r/results.json").read_text(encoding="utf-8")
    assert all(reason in text for text in (printed, summary, results))
