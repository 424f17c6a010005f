"""A scheduled run: alarms, changed data, and the page of a series."""
