"""What every part stands on: exceptions, the border that each array passes once, every Numba option, lanes, stack buffers, rigid frames."""
