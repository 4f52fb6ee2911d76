"""Points and a surface: the nearest face, signed distance, winding number, faces within a radius."""
