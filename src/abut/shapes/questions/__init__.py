"""What `abut.collide` and `abut.distance` answer about shapes."""
