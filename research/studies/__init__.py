"""Simulation studies whose results are committed under docs/: what the program offers, measured.

``make study-coverage`` runs ``research.studies.coverage``. Nothing here is part of the installed package.
"""
