"""Hierarchies of bounding volumes: the volumes, binary trees, trees of packets of eight, and trees over blocks of sixteen."""
