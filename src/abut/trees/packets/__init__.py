"""Trees eight wide, without pointers: what rigid and deformable bodies are searched with."""
