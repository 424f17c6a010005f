"""Messages about near misses name the near miss: the first thing a tired engineer would have to look for."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalreport.analysis import evaluate
from evalreport.errors import InputError
from evalreport.loading.load import load
from evalreport.options import Options

Write = Callable[[str, str | bytes], Path]


def test_files_that_are_not_read_are_named(write: Write, tmp_path: Path) -> None:
    """A folder of spreadsheets and pickles is not called empty: the message names what lies in it."""
    for name in ("forest.ods", "knn.pkl"):
        write(f"models/{name}", b"PK")
    with pytest.raises(InputError, match="forest.ods, knn.pkl, not read"):
        load(tmp_path / "models")


@pytest.mark.parametrize(
    "other, how", [("Spam", "capitals"), (" spam", "spaces"), ("sp\u00adam", "cannot be seen")]
)
def test_truths_that_differ_by_spelling_alone(write: Write, tmp_path: Path, other: str, how: str) -> None:
    """Capitals and spaces are no sign of another data set; another label is."""
    write("models/a.csv", "id,y_true,y_pred\n1,spam,ham\n2,ham,ham\n")
    write("models/b.csv", f"id,y_true,y_pred\n1,{other},ham\n2,ham,ham\n")
    with pytest.raises(InputError, match=f"they differ in .*{how}.* alone"):
        load(tmp_path / "models")
    write("models/b.csv", "id,y_true,y_pred\n1,ham,ham\n2,ham,ham\n")
    with pytest.raises(InputError, match="belongs to another data set"):
        load(tmp_path / "models")


def test_a_label_spelled_twice_is_pointed_out(write: Write) -> None:
    """A predicted label that the truth holds with other capitals is most likely the same label."""
    path = write("a.csv", "id,y_true,y_pred\n1,spam,Spam\n2,ham,ham\n3,eggs,bacon\n")
    texts = [w.text for w in load(path).warnings if w.code == "label_never_true"]
    assert ["differs from 'spam' in capitals" in text for text in texts] == [True, False]


def test_what_holds_for_several_models_is_said_once(write: Write) -> None:
    """Models without y_pred whose labels are derived alike share one line; another reason has its own."""
    rows = ["id,model,y_true,p_1,y_pred"]
    rows += [f"{i},{m},{i % 2},0.{i + 1},{'1' if m == 'c' else ''}" for m in "abc" for i in range(4)]
    said = [r for r in load(write("all.csv", "\n".join(rows) + "\n")).found if r.what == "threshold"]
    assert [record.value for record in said] == ["a, b"]


def test_a_file_that_may_not_be_read(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing rights are named as such; no byte of the file is called broken."""
    path = write("a.csv", "id,y_true,y_pred\n1,spam,ham\n")
    real = Path.open

    def locked(
        self: Path, *words: str, **more: str
    ) -> IO[Any]:  # the tests may run as root, who may read all
        if self == path:
            raise PermissionError(13, "Permission denied", str(self))
        return real(self, *words, **more)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(Path, "open", locked)
    with pytest.raises(
        InputError, match="cannot be opened: Permission denied; expected a file that this user"
    ):
        load(path)


def test_numbers_with_a_decimal_comma_are_numbers(write: Write) -> None:
    """In a spreadsheet of another country; beside other text they are text."""
    read = load(write("a.csv", 'id,y_true,y_pred\n1,"3,5","3,4"\n2,"2,5","2,5"\n'))
    assert read.task == "regression"
    assert [record.value for record in read.found if record.what == "decimal mark"] == [","]
    path = write("a.csv", 'id,y_true,y_pred\n1,"3,5",other\n2,"2,5","2,5"\n')
    assert load(path, options=Options(task="multiclass")).classes == ("2,5", "3,5", "other")


@pytest.mark.slow
def test_a_row_of_labels_takes_few_bytes(tmp_path: Path) -> None:
    """Of two models with labels NumPy takes less than 70 bytes an example, in the whole run.

    An example's position, truth, two labels and day are 28 bytes in the table; while loading its id's code and the
    models' rows are 24 more, and one array of 8 is worked on.
    """

    def write(folder: Path, n: int) -> Path:
        truth = np.random.default_rng(1).integers(0, 2, (2, n), dtype=np.int8)
        for model, wrong in (("forest", 5), ("logreg", 4)):
            for day in (0, 1):
                path = folder / f"model={model}" / f"day={day}" / "part.parquet"
                path.parent.mkdir(parents=True)
                predicted = np.where(np.arange(n) % wrong == 0, 1 - truth[day], truth[day])
                ids = np.arange(day * n, (day + 1) * n)
                pq.write_table(pa.table({"id": ids, "y_true": truth[day], "y_pred": predicted}), path)
        return folder

    evaluate(str(write(tmp_path / "few", 50)))  # so that all modules are there
    n = 100_000
    folder = write(tmp_path / "many", n)
    tracemalloc.start()
    results = evaluate(str(folder))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert results.n == 2 * n
    assert peak < 70 * results.n
