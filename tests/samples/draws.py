"""Whole bootstrap samples for tests, put together from the tiles in which they are drawn."""

import numpy as np

from evalreport.engine.draws import Bytes, multinomial_tiles


def uniform_multinomial(n: int, size: int, generator: np.random.Generator) -> Bytes:
    """Draw ``size`` bootstrap samples of n rows: how often each was drawn, (n, size)."""
    return np.concatenate([counts for _, counts in multinomial_tiles(n, size, generator, kept=True)])
