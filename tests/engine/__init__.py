"""Draws, counts, ranks and bins: what turns weights of examples into statistics."""
