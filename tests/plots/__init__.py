"""Charts: as a library, their colours, their bytes, and the records that they are drawn of."""
