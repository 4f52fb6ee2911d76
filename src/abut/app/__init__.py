"""What a person runs: the command line, the commands, the check and its report page, the benchmarks. Only this part prints."""
