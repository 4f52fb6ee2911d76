"""The cells change: surgery, cuts, deformation, and what those who are inside are told."""
