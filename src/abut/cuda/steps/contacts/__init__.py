"""When two features meet: the functions of `ccd.impact`, as they are, in three passes. Statuses and times are those of the processor, bit for bit."""
