"""The contour itself: cubic segments, how they are made, measured, boxed and placed."""
