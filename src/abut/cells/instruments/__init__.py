"""Rigid bodies with a width inside a partition."""
