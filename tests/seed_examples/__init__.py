"""The worked examples of five university lectures, slips included."""
