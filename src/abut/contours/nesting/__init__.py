"""Pieces on a sheet: first placement, compaction under pseudo-gravity, guided local search, exact verification."""
