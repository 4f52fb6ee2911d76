"""Swept primitives in blocks of sixteen along a curve: what steps, boxes and particles are searched with."""
