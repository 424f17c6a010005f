"""An advice that a refusal gives, followed to the letter, ends in a report."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalreport.cli import main
from evalreport.errors import input_texts
from evalreport.texts import english
from tests.samples.cases import every

pytestmark = pytest.mark.usefixtures("primary_alone")

N = 40
RNG = np.random.default_rng(5)
TRUE = (RNG.random(N) < 0.4).astype(int).tolist()
P = [round(float(p), 3) for p in np.clip(RNG.normal(0.3, 0.15, N) + 0.4 * np.array(TRUE), 0.01, 0.99)]
LABELS = [int(p >= 0.5) for p in P]
NUMBERS = [round(100 + 10 * float(x), 2) for x in RNG.normal(size=N)]
NEAR = [round(x + float(e), 2) for x, e in zip(NUMBERS, RNG.normal(size=N), strict=True)]
IDS = [f"r{k}" for k in range(N)]


def table(**columns: Iterable[object]) -> str:
    """CSV, each text in quotes where it needs them."""
    rows = [columns, *zip(*columns.values(), strict=True)]
    return "".join(
        ",".join(f'"{cell}"' if "," in str(cell) else str(cell) for cell in row) + "\n" for row in rows
    )


def holed(values: Iterable[object], place: int, cell: object) -> list[object]:
    """The values with one of them replaced."""
    return [cell if k == place else value for k, value in enumerate(values)]


def prices(mark: str) -> tuple[list[str], list[str]]:
    """True and predicted numbers, written with a mark before the last three digits."""
    return tuple([f"{int(x) // 10}{mark}{int(x * 7) % 1000:03d}" for x in xs] for xs in (NUMBERS, NEAR))  # type: ignore[return-value]


@dataclass(frozen=True)
class Case:
    """Files that are refused, and the advice.

    Attributes
    ----------
    files
        Name -> content; the folder is what is run.
    options
        Those of the run that is refused.
    advice
        Each is words of the message that, added to the options, end in a report.
    without
        Options that the message says to leave out.
    renamed
        (header, the name that the message gives it): the file with it ends in a report.
    """

    files: dict[str, str | bytes]
    options: str = ""
    advice: tuple[str, ...] = ()
    without: str = ""
    renamed: tuple[tuple[str, str], ...] = ()
    also: dict[str, str] = field(default_factory=dict)


TRUTH = table(id=IDS, y_true=TRUE)
ANSWERS = table(id=IDS, y_pred=LABELS)
CLASSES = ["cat", "dog", "fox"]
THREE = [CLASSES[k % 3] for k in range(N)]
OTHERS = [CLASSES[k % 3] if k % 5 else "cat" for k in range(N)]
PERCENT = table(id=IDS, y_true=TRUE, p_1=[100 * p for p in P])
COUNTED = "y_true,y_pred.a,y_pred.b,count\n1.5,1.5,1.5,20\n1.5,2.5,1.5,10\n2.5,2.5,2.5,30\n"
SEEDS = "id,model,seed,y_true,y_pred\n" + "".join(
    f"{i},{m},{s},{k % 2},{(k + s) % 2 if k < 4 else k % 2}\n"
    for m, seeds in (("a", (1, 2, 3)), ("b", (2, 3, 4)))
    for s in seeds
    for k, i in enumerate(IDS)
)
UNLIKE_SEEDS = "id,model,seed,y_true,y_pred\n" + "".join(
    f"{i},{m},{s},{k % 2},{(k + s) % 2 if k < 4 else k % 2}\n"
    for m, seeds in (("a", (1, 2, 3)), ("b", (4, 5, 6)))
    for s in seeds
    for k, i in enumerate(IDS)
)
ATTEMPTS = "".join(f"q{k},{k % 2}\nq{k},1\n" for k in range(N))
CASES: dict[str, Case] = {
    "row_twice_of_answers": Case({"m.csv": "task_id,passed\n" + ATTEMPTS}, advice=("--attempts-by task_id",)),
    "seeds_partly_shared": Case({"m.csv": SEEDS}, advice=("--join intersect",)),
    "seed_lacking": Case({"m.csv": UNLIKE_SEEDS.replace("r7,b,5,1,1\n", "")}, advice=("--join intersect",)),
    "rows_lacking": Case(
        {
            "a.csv": table(id=IDS, y_true=TRUE, y_pred=LABELS),
            "b.csv": table(id=IDS[:30], y_true=TRUE[:30], y_pred=LABELS[:30]),
        },
        advice=("--join intersect", "--join independent"),
    ),
    "counts_of_numbers": Case({"counts.csv": COUNTED}, advice=("--task multiclass",)),
    "empty_cell": Case(
        {"m.csv": table(id=IDS, y_true=TRUE, p_1=holed(P, 3, ""))}, advice=("--missing drop",)
    ),
    "no_true_value": Case(
        {"m.csv": table(id=IDS, y_true=holed(TRUE, 3, ""), y_pred=LABELS)}, advice=("--missing drop",)
    ),
    "missing_word": Case(
        {"m.csv": table(id=IDS, y_true=NUMBERS, y_pred=holed(NEAR, 3, "?"))}, advice=("--missing drop",)
    ),
    "missing_word_may_be_label": Case(
        {"m.csv": table(id=IDS, y_true=THREE, y_pred=holed(OTHERS, 3, "-"))},
        advice=("--labels -", "--missing drop", "--missing wrong"),
    ),
    "missing_word_may_be_wrong": Case(
        {"m.csv": table(id=IDS, outcome=holed(TRUE, 3, "NA"))}, advice=("--missing drop", "--missing wrong")
    ),
    "missing_word_of_truth": Case(
        {
            "m.csv": table(
                id=IDS, y_true=holed([k % 3 for k in range(N)], 3, -100), y_pred=[k % 3 for k in range(N)]
            )
        },
        advice=("--labels -100", "--missing drop"),
    ),
    "empty_cost": Case(
        {"m.csv": table(id=IDS, outcome=TRUE, cost=holed(P, 3, ""))},
        advice=("--missing drop", "--missing wrong"),
    ),
    "cost_is_taken": Case(
        {"m.csv": table(id=IDS, outcome=TRUE, price=P)},
        "--cost outcome",
        advice=("--cost",),
        also={"--cost": "--cost price"},
    ),
    "no_truth_but": Case(
        {"m.csv": table(id=IDS, y_pred=OTHERS, species=THREE)},
        advice=("--truth",),
        renamed=(("species", "y_true"),),
        also={"--truth": "--truth {truth}"},
    ),
    "no_truth_but_judged": Case(
        {"m.csv": table(id=IDS, y_pred=IDS, is_correct=TRUE)}, advice=("--outcome is_correct",)
    ),
    "no_truth": Case({"m.csv": ANSWERS}, advice=("--truth",), also={"--truth": "--truth {truth}"}),
    "wide_label": Case(
        {"m.csv": table(id=IDS, label=TRUE, a=LABELS, b=TRUE)}, "--wide", renamed=(("label", "y_true"),)
    ),
    "two_truths": Case(
        {"m.csv": ANSWERS, "truth.csv": TRUTH, "truth.tsv": TRUTH.replace(",", "\t")},
        advice=("--truth",),
        also={"--truth": "--truth {folder}/truth.csv"},
    ),
    "no_wide_model": Case(
        {"m.csv": TRUTH}, "--wide --truth {truth}", without="--wide", renamed=(("y_true", "y_pred"),)
    ),
    "named_column_lacking": Case(
        {"m.csv": table(id=IDS, grade=P)},
        "--outcome mark",
        advice=("--outcome",),
        also={"--outcome": "--outcome grade"},
    ),
    "named_column_taken": Case(
        {"m.csv": table(id=IDS, y_true=P, grade=P)},
        "--outcome y_true",
        advice=("--outcome",),
        also={"--outcome": "--outcome grade"},
    ),
    "several_metrics": Case({"m.csv": table(dataset=IDS, auc=P, f1=P)}, advice=("--value auc",)),
    "gold_alone": Case(
        {"m.csv": table(id=IDS, judge=P, gold=TRUE)},
        advice=("--outcome",),
        also={"--outcome": "--outcome judge"},
    ),
    "label_is_no_number": Case(
        {
            "m.csv": table(
                id=IDS, y_true=[k % 3 for k in range(N)], y_pred=holed([k % 3 for k in range(N)], 3, "x")
            )
        },
        advice=("--task multiclass",),
    ),
    "ambiguous_numbers": Case(
        {"m.csv": table(id=IDS, y_true=prices(",")[0], y_pred=prices(",")[1])}, advice=("--task multiclass",)
    ),
    "labels_not_called_so": Case(
        {"m.csv": table(id=IDS, y_true=TRUE, p_1=P, final_label=[int(p >= 0.4) for p in P])},
        advice=("--threshold 0.5",),
        renamed=(("final_label", "y_pred"),),
    ),
    "correct_is_either": Case(
        {"m.csv": table(id=IDS, label=TRUE, prediction=LABELS, correct=[k % 2 for k in range(N)])},
        advice=("--outcome correct",),
        renamed=(("correct", "y_true"),),
    ),
    "score_for_numbers": Case(
        {"m.csv": table(id=IDS, Label=NUMBERS, Score=NEAR)},
        advice=("--task regression",),
        renamed=(("Score", "y_pred"),),
    ),
    "several_labels": Case(
        {
            "m.csv": table(
                id=IDS,
                y_true=["a|b" if k % 3 else "a" for k in range(N)],
                y_pred=["b" if k % 2 else "a" for k in range(N)],
            )
        },
        advice=("--task multiclass",),
    ),
    "numbers_for_text": Case(
        {"m.csv": table(id=IDS, y_true=THREE, y_pred=[k % 3 for k in range(N)])},
        advice=("--task clustering",),
    ),
    "labels_by_other_names": Case(
        {"m.csv": table(id=IDS, y_true=THREE, y_pred=[f"LABEL_{k % 3}" for k in range(N)])},
        advice=("--task multiclass",),
    ),
    "labels_of_others": Case(
        {"m.csv": table(id=IDS, y_true=THREE, y_pred=["xy"[k % 2] for k in range(N)])},
        advice=("--task clustering", "--task multiclass"),
    ),
    "probabilities_for_labels": Case(
        {"m.csv": table(id=IDS, y_true=TRUE, y_pred=P)},
        advice=("--task regression",),
        renamed=(("y_pred", "y_prob"),),
    ),
    "confidence_beside_label": Case(
        {"m.csv": table(id=IDS, label=LABELS, score=[max(p, 1 - p) for p in P])},
        renamed=(("label", "y_pred"),),
    ),
    "missing_word_of_score": Case(
        {"m.csv": table(fold=range(5), model=["a"] * 5, value=["0.5", "0.6", "NA", "0.7", "0.8"])},
        advice=("--missing drop",),
    ),
    "empty_score": Case(
        {"m.csv": table(fold=range(5), model=["a"] * 5, value=["0.5", "0.6", "", "0.7", "0.8"])},
        advice=("--missing drop",),
    ),
    "empty_cell_may_be_wrong": Case(
        {"m.csv": table(id=IDS, outcome=holed(TRUE, 3, ""))}, advice=("--missing drop", "--missing wrong")
    ),
    "not_utf_8": Case(
        {
            "m.csv": table(
                id=IDS, y_true=["blé" if code else "riz" for code in TRUE], y_pred=["riz"] * N
            ).encode("latin-1")
        },
        advice=("--encoding latin-1",),
    ),
    "text_in_utf_16": Case(
        {"m.csv": table(id=IDS, y_true=TRUE, y_pred=LABELS).encode("utf-16")}, advice=("--encoding utf-16",)
    ),
    "other_encoding": Case(
        {
            "m.csv": table(
                id=IDS, y_true=["éa"[code] for code in TRUE], y_pred=["éa"[code] for code in LABELS]
            )
        },
        "--encoding ascii",
        without="--encoding ascii",
    ),
    "other_scale": Case(
        {"m.csv": table(id=IDS, y_true=TRUE, p_1=P)},
        "--probabilities percent",
        without="--probabilities percent",
    ),
    "probability_in_percent": Case(
        {"m.csv": PERCENT}, advice=("--probabilities percent",), renamed=(("p_1", "score"),)
    ),
    "probability_in_log": Case(
        {"m.csv": table(id=IDS, y_true=TRUE, p_1=np.log(P).tolist())},
        advice=("--probabilities log",),
        renamed=(("p_1", "score"),),
    ),
    "lone_probability_scale": Case(
        {"m.csv": PERCENT.replace("p_1", "probability")},
        advice=("--probabilities percent",),
        renamed=(("probability", "score"),),
    ),
    "no_level": Case(
        {
            "m.csv": table(
                id=IDS, y_true=NUMBERS, y_pred=NEAR, y_low=[x - 2 for x in NEAR], y_high=[x + 2 for x in NEAR]
            )
        },
        advice=("--level 0.9", "--task regression"),
    ),
    "crossing_quantiles": Case(
        {
            "m.csv": "id,y_true,q_0.05,q_0.95\n"
            + "".join(f"{i},{x},{x + 1},{x - 1}\n" for i, x in zip(IDS, NUMBERS, strict=True))
        },
        advice=("--sort-quantiles",),
    ),
    "outside_scale": Case(
        {"m.csv": table(id=IDS, outcome=[1 + k % 10 for k in range(N)], gold=[1 + k % 5 for k in range(N)])},
        "--judge-scale 1:5",
        advice=("--judge-scale",),
        without="--judge-scale 1:5",
        also={"--judge-scale": "--judge-scale 1:10,1:5"},
    ),
    "too_many_classes": Case(
        {"m.csv": table(id=range(1200), y_true=range(1200), y_pred=range(1200))},
        "--task multiclass",
        without="--task multiclass",
        advice=("--task regression",),
    ),
    "wide_with_several_columns": Case(
        {"m.csv": table(id=IDS, tp=[3] * N, fp=[k % 3 for k in range(N)], fn=[k % 2 for k in range(N)])},
        "--wide",
        without="--wide",
    ),
}
"""Code of the refusal -> how to provoke it, and its advice."""


ELSEWHERE = frozenset(
    (
        # Imports: tests/imports/test_lm_eval.py.
        "other_prompt",
        # Aggregates and engines: tests/scale.
        *(
            "scores_not_counted",
            "aggregates_alike",
            "counts_changed",
            "manifest_damaged",
            "aggregate_contradicts",
        ),
        *(
            "positive_of_aggregate",
            "class_codes_uncounted",
            "engine_gave_up",
            "parquet_alone",
            "numbers_to_predict",
        ),
        # Archives that unpack to more than memory: tests/sources/test_unpacking.py.
        "unpacks_to_more",
        # Answered with another file for each model: tests/loading/test_wide.py.
        "wide_column_is_no_model",
        # Counts without a true value: a line more of the same as no_true_value, in tests/loading/test_counts.py.
        "no_true_value_of_a_line",
    )
)


def test_every_refusal_that_names_an_option_is_followed() -> None:
    """A new one is added above, with a file that provokes it."""
    ends = (
        key.split(".") for key, text in english().items() if key.startswith("input.") and "--" in str(text)
    )
    named = {code for _, code, part, *_ in ends if part == "remedy"}
    assert named - ELSEWHERE - set(CASES) == set()


def test_the_likely_wide_or_judged_column_is_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Remedies that are put together from the names: each option in them is tried on a file that it fits."""
    wide = table(id=IDS, y_true=THREE, forest=OTHERS, tree=THREE)
    judged = table(id=[k // 2 for k in range(N)], model=["a", "b"] * (N // 2), **{"my score": P})
    forecast = "unique_id,ds,y,ETS,ARIMA\n" + "".join(
        f"s{k % 4},{k // 4},{x},{x + 1},{x - 1}\n" for k, x in enumerate(NUMBERS)
    )
    folds = ",fit_time,score_time,test_score\n" + "".join(f"{k},0.1,0.1,{p}\n" for k, p in enumerate(P[:5]))
    for content, advice in (
        (wide, "--wide"),
        (judged, "--outcome 'my score'"),
        (forecast, "--wide"),
        (folds, "--value test_score"),
    ):
        path = tmp_path / "m.csv"
        path.write_text(content)
        assert main(["run", str(path), "-f", "json", "-o", str(tmp_path / "out")]) == 2
        assert advice in _fix(capsys.readouterr().err)
        assert _reported(path, shlex.split(advice), tmp_path), (advice, capsys.readouterr().err)


def test_folds_without_numbers_are_to_be_numbered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What cross_validate returns, written without its index; both parts of the advice are followed."""
    path = tmp_path / "m.csv"
    path.write_text("fit_time,score_time,test_score\n" + "".join(f"0.1,0.1,{p}\n" for p in P[:5]))
    assert main(["run", str(path), "-o", str(tmp_path / "out")]) == 2
    assert "number the folds in a column fold" in _fix(capsys.readouterr().err)
    path.write_text(
        "fold,fit_time,score_time,test_score\n" + "".join(f"{k},0.1,0.1,{p}\n" for k, p in enumerate(P[:5]))
    )
    assert _reported(path, ["--value", "test_score"], tmp_path)


@pytest.mark.parametrize("code", every(3, CASES))
def test_the_advice_of_a_refusal_ends_in_a_report(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file is refused with this code; each advice, in the words of the message, ends in a report."""
    case = CASES[code]
    folder, truth = tmp_path / "preds", tmp_path / "truth-elsewhere.csv"
    folder.mkdir()
    truth.write_text(table(id=IDS, y_true=THREE if "species" in str(case.files) else TRUE))
    for name, content in case.files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    def words(text: str) -> list[str]:
        return shlex.split(text.format(truth=truth, folder=folder))

    codes = _codes(monkeypatch)
    given = words(case.options)
    assert main(["run", str(folder), *given, "-f", "json", "-o", str(tmp_path / "out")]) == 2
    message = _fix(capsys.readouterr().err)
    assert code in codes
    kept = given
    if case.without:
        left_out = words(case.without)
        assert left_out[0] in message
        kept = [word for word in given if word not in left_out]
        if not (case.advice or case.renamed):
            assert _reported(folder, kept, tmp_path), capsys.readouterr().err
    for advice in case.advice:
        assert advice in message
        followed = words(case.also.get(advice, advice))
        base = [] if given and followed[0] in given else kept
        assert _reported(folder, [*base, *followed], tmp_path), (advice, capsys.readouterr().err)
    for header, name in case.renamed:
        (file,) = folder.iterdir()
        text = file.read_text()
        first, _, rest = text.partition("\n")
        cells = [name if cell == header else cell for cell in first.split(",")]
        file.write_text(",".join(cells) + "\n" + rest)
        needs = ["--truth", str(truth)] if code == "confidence_beside_label" else []
        assert _reported(folder, [*kept, *needs], tmp_path), (header, capsys.readouterr().err)
        file.write_text(text)


def _codes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The codes of all errors that are made from here on."""
    codes: list[str] = []

    def texts(code: str, **values: Any) -> Any:
        codes.append(code)
        return input_texts(code, **values)

    for module in ("evalreport.errors", "evalreport.loading.rows"):
        monkeypatch.setattr(f"{module}.input_texts", texts)
    return codes


def _fix(message: str) -> str:
    """What the message says to do."""
    return re.sub(r"\s+", " ", message.partition("Fix:")[2])


def _reported(path: Path, options: list[str], tmp_path: Path) -> bool:
    """Say whether a run ends in a report."""
    out = tmp_path / "out"
    code = main(["run", str(path), *options, "-f", "json,md", "-o", str(out), "--resamples", "20"])
    done = code in (0, 1, 3) and (out / "summary.md").is_file()
    (out / "summary.md").unlink(missing_ok=True)
    return done
