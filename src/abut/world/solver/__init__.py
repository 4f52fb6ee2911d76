"""What contacts do to bodies within a step."""
