"""Bodies whose vertices, edges and faces move inside the partition."""
