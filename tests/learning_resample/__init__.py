"""Tests of refitting by a plan."""
