"""What an impulse at a point does to bodies, in space and in the plane: the records, the sides of a contact, one contact."""
