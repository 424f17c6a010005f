"""What holds for every registered metric, interval and test, on any data."""
