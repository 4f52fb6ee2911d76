"""Kernels that measure what a search has found: where triangles meet, how far apart surfaces are, how deep a surface lies in another."""
