"""Kernels that search two packet trees: which triangles meet or come near, and on which side of a surface a point lies."""
