"""Tests of what stands around the p-value: sizes, plans, warnings."""
