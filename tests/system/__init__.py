"""Tests with real programs of the system: a browser, PDF tools, killed processes; `make test-system`."""
