"""Where contours meet, how far apart they are, and what lies inside."""
