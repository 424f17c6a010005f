"""Curves, operating points, dominance, and what another threshold changes."""
