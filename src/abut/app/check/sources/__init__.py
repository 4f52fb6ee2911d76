"""Where frames come from: one file for each kind of file, all of which answer alike (see `sources.source`)."""
