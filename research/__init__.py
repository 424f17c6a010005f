"""Programs that measure evalreport: simulation studies, attacks, benchmarks. None of it is installed."""
