"""Mobiles that meet one another or themselves."""
