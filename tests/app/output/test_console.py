"""Text that somebody else wrote does not command the terminal."""

from abut.app.output.console import SafeConsole, printable


def test_control_characters_are_shown_and_not_obeyed(capsys):
    assert printable("a\x1b[2Jb\x9bc\rd\n\te\x7f") == "a\\x1b[2Jb\\x9bc\\x0dd\n\te\\x7f"
    SafeConsole().print("x\x1b]0;owned\x07y", markup=False)
    assert "\x1b" not in (shown := capsys.readouterr().out)
    assert "x\\x1b]0;owned\\x07y" in shown
