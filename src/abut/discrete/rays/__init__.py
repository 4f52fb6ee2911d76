"""Rays and segments against a surface: the first hit, any, or all, exact on edges and vertices."""
