"""Other tools' logs: read as those tools wrote them."""
