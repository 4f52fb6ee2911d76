"""Continuous collision on a CUDA device.

`sets` what is searched for what, as tables · `ordering` an order in space · `tiles` 32 features, and boxes of 32 tiles, of 32 such boxes … ·
`tile_pairs` which tiles meet · `lane_pairs` which features of two tiles may meet · `axes`, `exact_boxes` what keeps two apart · `contacts` when two
meet · `rows` impacts in order, with points and normals · `program` all of it as one graph of launches · `runs` until nothing is open ·
`questions` what users ask.
"""
