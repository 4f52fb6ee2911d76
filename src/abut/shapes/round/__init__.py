"""What is not its core: cylinders, cones and half-spaces, by their farthest points and formulas."""
