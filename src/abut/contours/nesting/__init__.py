"""Nesting."""
