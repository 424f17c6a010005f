"""How many examples would have to turn round before a verdict changes."""
