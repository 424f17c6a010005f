"""The file of predictions: every format holds the same, and it is written whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evalreport.refit.resampling import resample
from tests.refit.conftest import BAYES
from tests.samples.cases import every
from tests.samples.refits import bytes_of

Write = Callable[..., Path]


@pytest.mark.parametrize("name", every(3, ["p.csv", "p.csv.gz", "p.parquet"]))
def test_every_written_format_holds_the_same_numbers_twice_over(folder: Path, plan: Write, name):
    """Two runs give the same bytes, and a CSV reads back to the very numbers of the Parquet file."""
    import evalreport

    path = plan('name = "kfold"\nfolds = 3', BAYES)
    resample(path, output=folder / name)
    first = (folder / name).read_bytes()
    resample(path, output=folder / name)
    assert (folder / name).read_bytes() == first
    reference = resample(path, output=folder / "reference")
    assert reference.predictions is not None
    one, two = evalreport.load(folder / name), evalreport.load(reference.predictions)
    assert (one.models[0].proba == two.models[0].proba).all()
    assert (folder / "p.resample.json").exists()


def test_an_earlier_output_stays_until_the_new_one_is_whole(folder: Path, plan: Write, monkeypatch):
    """A disk that is full at the end: the old predictions byte for byte, and the fits are not lost."""
    from evalreport.errors import OutputError

    resample(plan('name = "kfold"\nfolds = 3', BAYES), output=folder / "out")
    before = bytes_of(folder / "out")

    def full(_stream: object) -> None:
        raise OSError(28, "No space left on device")

    path = plan('name = "kfold"\nfolds = 4', BAYES)
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OutputError, match="No space left on device; the finished fits are kept"):
            resample(path, output=folder / "out")
    assert bytes_of(folder / "out") == before
    assert resample(path, output=folder / "out").n_reused == 4
