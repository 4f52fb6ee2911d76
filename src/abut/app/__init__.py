"""What a person runs: the command line, the demonstration, the benchmarks. Only this part prints."""
