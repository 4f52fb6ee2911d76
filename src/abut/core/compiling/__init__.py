"""How functions are compiled and where their code is kept: dispatchers, the cache on disk, the hash of what a function can reach."""
