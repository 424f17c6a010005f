"""Histories of audits: the store, the comparison with earlier runs, the commands, and what may go wrong on the way."""
