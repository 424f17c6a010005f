"""Files, addresses, data frames and arrays, read into raw columns."""
