"""Extension: other tools' logs as a prediction file; JSON and SQLite are only read, and nothing is unpickled or run."""
