"""`python -m abut`: the same as the command `abut`."""

from abut.app.cli import main

main()
