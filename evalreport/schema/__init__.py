"""What a run returns: its records, their JSON and their flat frames."""
