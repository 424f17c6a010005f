"""Two models of labels as frames, and as files for engines to count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.samples.counted import N


@pytest.fixture(scope="module")
def frames() -> dict[str, pd.DataFrame]:
    """Two models on the same examples, in different orders, with a slice that is sometimes empty."""
    rng = np.random.default_rng(3)
    truth = rng.choice(["cat", "dog", "eel"], N)
    place = rng.choice(["north", "south", None], N)
    found = {}
    for model, share in (("forest", 0.8), ("logreg", 0.6)):
        said = np.where(rng.random(N) < share, truth, rng.choice(["cat", "dog"], N))
        frame = pd.DataFrame(
            {"id": [f"e{i}" for i in range(N)], "y_true": truth, "y_pred": said, "place": place}
        )
        found[model] = frame.sample(frac=1, random_state=1)
    return found


@pytest.fixture(scope="module")
def folder(frames: dict[str, pd.DataFrame], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The models as Parquet, in several row groups."""
    place = tmp_path_factory.mktemp("models")
    for model, frame in frames.items():
        frame.to_parquet(place / f"{model}.parquet", index=False, row_group_size=100)
    return place
