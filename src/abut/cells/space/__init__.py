"""What a walk reads and asks: records of planes, convex parts, exact predicates, location."""
