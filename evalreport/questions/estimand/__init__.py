"""What is estimated: of which population, by which unit, with what fixed and what left to vary."""
