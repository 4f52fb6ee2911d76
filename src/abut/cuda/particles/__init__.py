"""Particles inside an environment on a CUDA device: `walk` the kernels, `moves` what a move answers, `crowd` the particles themselves."""
