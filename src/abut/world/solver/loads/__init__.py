"""How firmly contacts must be solved for what stands on them."""
