"""Which threshold on the scores: curves, operating points and decision curves."""
