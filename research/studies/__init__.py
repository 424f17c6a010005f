"""Simulation studies whose results are committed under docs/: what the program offers, measured.

``make study-coverage`` runs one; ``harness.py`` is what they share. Nothing here is part of the installed package.
"""
