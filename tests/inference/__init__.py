"""What the statistics rest on, held to independent computations: enumeration, other programs, simulation."""
