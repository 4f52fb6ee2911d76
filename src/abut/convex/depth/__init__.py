"""How deep two hulls overlap: a polytope that grows inside their difference, and the features that the depth comes from."""
