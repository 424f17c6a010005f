"""Evidence: verifying and comparing results that are handed in."""
