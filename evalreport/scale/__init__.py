"""Predictions too large for one machine, reduced to counts and sums by DuckDB, Dask or Spark."""
