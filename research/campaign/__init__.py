"""Attacks on the program that are too long for the tests: kept as programs, so that they can be run again.

``make campaign`` runs them all; the tests under ``tests/system`` run short forms. Nothing here is installed.
"""
