"""Results drawn on matplotlib axes: each function takes an optional ``ax`` and returns it."""
