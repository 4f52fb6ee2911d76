"""Points inside cells that have moved: whom a wall has reached, when and where, and in which cells all of them are then (Jund 2010, §3.4)."""
