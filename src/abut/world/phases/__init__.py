"""What `step` does, phase by phase."""
