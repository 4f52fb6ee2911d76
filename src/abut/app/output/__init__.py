"""What every command writes to: consoles, progress bars, files, pictures; and the exit codes."""
