"""Raw columns, made into a validated table of predictions."""
