"""One comment on a pull or merge request."""
