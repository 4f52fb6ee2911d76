"""Environments from given cells, and from closed surfaces."""
