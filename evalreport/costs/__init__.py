"""What answers cost, and what a model's quality costs."""
