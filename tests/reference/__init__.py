"""Our numbers against values that R and its packages computed from the same files."""
