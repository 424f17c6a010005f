"""Recorded results that a test changes."""

from __future__ import annotations

GATES = ("--gate", "forest.accuracy >= 0.5", "--gate", "n >= 100")

OPTIONS = (*GATES, "--slice", "sex", "-m", "accuracy", "-m", "roc_auc")
