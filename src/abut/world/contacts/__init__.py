"""Where bodies touch: colliders, the pairs of them that are near, contact points, and what is known of them from the last step."""
