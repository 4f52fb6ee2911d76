"""What papers compare with and benchmarks repeat: voxels, and the refits that Meseure rejected. No other part uses it."""
