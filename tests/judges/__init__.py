"""An automatic judge beside a few human outcomes: the column gold."""
