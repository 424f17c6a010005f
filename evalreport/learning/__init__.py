"""About learning algorithms rather than fitted models."""
