"""Masses joined by springs, which may be divided."""
