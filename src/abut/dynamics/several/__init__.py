"""Mobiles that move together in one step and do not pass through one another."""
