"""Contours that fall, collide and come to rest."""
