"""Arithmetic that does not round: expansions of doubles, double-doubles, and integers of fixed width. `predicates` decides signs with it."""
