"""The commands, one file each: refuses what cannot work before the work starts, does it, and says where the results lie."""
