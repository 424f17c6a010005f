"""The section of a model card: read by Hugging Face's own library."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalreport as er
from tests.samples.labels import FOREST, TRUTH

NEEDED = "[More Information Needed]"
NAMES = ('fo"re: st', "tree\u2028{#}")


# Said on import where there is neither fcntl nor msvcrt, as under `make test-portable`.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:only soft file lock:UserWarning")
def test_huggingface_hub_reads_the_card(tmp_path: Path) -> None:
    """Every model has its metrics in the model index, the primary one first, with the values of the results."""
    huggingface_hub = pytest.importorskip("huggingface_hub")
    models = {
        name: {"y_pred": [p if i % k else 1 - p for i, p in enumerate(FOREST)]}
        for k, name in ((5, NAMES[0]), (3, NAMES[1]))
    }
    results = er.evaluate(models, truth=TRUTH, metrics=["accuracy", "f1"], resamples=20)
    er.render(results, tmp_path, formats=["card"])
    card = huggingface_hub.ModelCard.load(tmp_path / "card.md")
    text = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert text.startswith("---\nmodel-index:\n")
    index = card.data.to_dict()["model-index"]
    assert index[0]["name"] in {'fo"re: st', "treeU+2028{#}"}
    import yaml

    entries = yaml.safe_load(text.split("---\n")[1])["model-index"]
    assert [entry["name"] for entry in entries] == ['fo"re: st', "treeU+2028{#}"]
    for entry, name in zip(entries, NAMES, strict=True):
        (found,) = entry["results"]
        assert found["task"]["type"] == "classification"
        assert (found["dataset"]["name"], found["dataset"]["type"]) == (NEEDED, NEEDED)
        values = {row.metric: row.value for row in results.metrics if row.model == name}
        assert [(m["type"], m["value"]) for m in found["metrics"]] == [
            (m, values[m]) for m in ("accuracy", "f1")
        ]
    body = text.split("---\n", 2)[2]
    assert body.count(NEEDED) == 2
    assert "| Model | Accuracy | F1 |" in body
