"""Contours."""
