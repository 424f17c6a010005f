"""The store of audited runs, and the comparison of two runs."""
