"""The bodies of a world: where they are kept, and which of them sleep."""
