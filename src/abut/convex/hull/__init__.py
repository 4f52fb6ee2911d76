"""Convex hulls: the boundary of a set of points, and the tables that walks and depths read."""
