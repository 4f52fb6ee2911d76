"""What users may do to a world and ask of it, one class a concept; `World` is all of them."""
