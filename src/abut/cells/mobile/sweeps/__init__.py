"""Whether what edges and faces sweep meets an obstacle, and when first."""
