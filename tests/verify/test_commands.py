"""The command `verify`: what it needs, and its exit codes."""

from __future__ import annotations

import shutil

import pytest

from tests.samples.two_models import run


@pytest.mark.slow
def test_missing_inputs_are_exit_2(made, verify, tmp_path):
    """Each is named with where it was looked for."""
    code, said = verify(made / "out", "--inputs", tmp_path)
    assert code == 2
    assert f"input forest.csv: missing: there is no file {tmp_path / 'forest.csv'}" in said
    assert "CANNOT BE VERIFIED" in said


def test_predictions_from_memory_cannot_be_had(tmp_path, verify):
    """They were never a file."""
    import evalreport as er
    from evalreport.schema.results import to_json

    results = er.evaluate({"y_true": [0, 1, 0, 1], "forest": [0, 1, 1, 1]}, metrics="accuracy", resamples=20)
    (tmp_path / "results.json").write_bytes(to_json(results))
    code, said = verify(tmp_path)
    assert code == 2
    assert "given as arrays or data frames" in said


def test_the_truth_may_stand_apart(tmp_path, verify):
    """A file of true values elsewhere is looked for by its name."""
    models, apart = tmp_path / "models", tmp_path / "apart"
    models.mkdir()
    apart.mkdir()
    rows = range(60)
    (models / "forest.csv").write_text("id,y_pred\n" + "".join(f"e{i},{i % 3 % 2}\n" for i in rows))
    (apart / "gold.csv").write_text("id,y_true\n" + "".join(f"e{i},{i % 2}\n" for i in range(61)))
    out = run(models, tmp_path / "out", "--truth", str(apart / "gold.csv"), "-m", "accuracy")
    assert verify(out, "--inputs", models)[0] == 2
    shutil.copy(apart / "gold.csv", models)
    assert verify(out, "--inputs", models)[0] == 0
