"""Results drawn on matplotlib axes: every function takes an optional ``ax`` and returns the one it drew on."""
