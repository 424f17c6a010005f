"""Files that other tools wrote by themselves: read with the right answers, or refused with the right remedy."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import evalreport as er
from evalreport.errors import InputError

TOOLS = Path(__file__).resolve().parents[1] / "data" / "tools"
EXPECTED: dict[str, dict[str, float]] = json.loads((TOOLS / "expected.json").read_text(encoding="utf-8"))
"""Values by scikit-learn, from the arrays that were written."""

OPTIONS: dict[str, dict[str, Any]] = {
    "scikit_learn/cross_validate.csv": {"value": "test_score"},
    "pandas/wide.csv": {"wide": True},
    "by_hand/mlnet_regression.csv": {"task": "regression"},
}

REFUSED = {
    "pandas/tabs.csv": "commas (.csv) or tabs (.tsv)",
    "pandas/utf16.csv": "save the file as UTF-8 text",
    "pandas/compressed.csv.zip": "unpack it",
    "pandas/records.json": "to_json('m.jsonl', orient='records', lines=True)",
    "pandas/gap.csv": "--missing drop",
    "polars/lines.ndjson": "call it .jsonl",
    "polars/stream.arrows": "write_ipc('m.arrow')",
    "scikit_learn/classes.csv": "p_high, p_low, p_mid",
    "scikit_learn/numbered.csv": "columns=model.classes_).add_prefix('p_')",
    "scikit_learn/objects.npz": "dtype=str",
    "scikit_learn/unnamed.npz": "np.savez(path, id=ids, y_true=truth, y_pred=labels)",
    "scikit_learn/savetxt.csv": "begin the file with a line of names",
    "scikit_learn/remark.csv": "comments=''",
    "scikit_learn/cross_val_score.npy": "er.evaluate with an array for each model",
    "scikit_learn/cv_results.csv": "er.evaluate(search.cv_results_)",
    "scikit_learn/report.csv": "write the predictions",
    "boosters/xgboost_pred.csv": "rename the column y_prob",
    "hugging_face/raw.jsonl": "rename label y_pred if the model predicted it",
    "hugging_face/label.jsonl": "rename the column of the predicted labels y_pred",
    "hugging_face/top_k.jsonl": "the scores as p_<label>",
    "hugging_face_splits": "hugging_face_splits/test",
    "r/table.csv": "write.csv(x, 'm.csv')",
    "r/table_bare.csv": "write.csv(x, 'm.csv')",
    "r/table.txt": "write.csv(x, 'm.csv')",
    "r/gap.csv": "--missing drop",
}
"""Part of the remedy of each file that cannot be read as it is."""

OF_R = ("csv.csv", "csv2.csv", "table_commas.csv", "table_tabs.tsv", "logical.csv")


@pytest.mark.parametrize("name", EXPECTED)
def test_what_tools_write_is_read(name: str) -> None:
    """The values are those of scikit-learn, to the digits that the files hold."""
    if name.endswith(".xlsx"):
        pytest.importorskip("python_calamine")
    results = er.evaluate(
        TOOLS / name, **{"resamples": 20, "metrics": tuple(EXPECTED[name]), **OPTIONS.get(name, {})}
    )
    found = {record.metric: record.value for record in reversed(results.metrics) if record.model != "always"}
    found |= {record.metric: record.value for record in results.metrics if record.model == "logreg"}
    assert {metric: found[metric] for metric in EXPECTED[name]} == pytest.approx(EXPECTED[name], rel=1e-9)


@pytest.mark.parametrize("name", OF_R)
def test_what_r_writes_is_read(name: str) -> None:
    """The accuracy is the share that R counted."""
    results = er.evaluate(TOOLS / "r" / name, resamples=20, metrics=["accuracy"])
    assert results.metrics[0].value == float((TOOLS / "r/expected.txt").read_text())


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_as_it_is_comes_with_the_remedy(name: str) -> None:
    """One message, which says what to do."""
    with pytest.raises(InputError) as caught:
        er.load(TOOLS / name)
    assert REFUSED[name] in str(caught.value)


def test_every_file_of_tools_has_its_answer() -> None:
    """No file is left out of the tables above."""
    folders = {"hugging_face_disk", "hugging_face_splits"}
    files = {
        str(path.relative_to(TOOLS).as_posix())
        for path in TOOLS.rglob("*")
        if path.is_file() and path.parent != TOOLS and not folders & set(path.relative_to(TOOLS).parts)
    }
    assert files | folders == {*EXPECTED, *REFUSED, *(f"r/{name}" for name in OF_R), "r/expected.txt"}


def test_a_folder_of_files_that_are_not_read_says_how_they_are_written(tmp_path: Path) -> None:
    """As one of them does."""
    for name in ("forest.json", "logreg.json"):
        shutil.copy(TOOLS / "pandas/records.json", tmp_path / name)
    with pytest.raises(InputError, match=r"found forest.json, logreg.json, not read.*lines=True"):
        er.load(tmp_path)
