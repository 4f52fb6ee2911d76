"""From the words of the command line to the bodies of a job.

`NAME=FILES` is a body; several words of one name are its frames together. Files without a name are one body, but where their names fall into several
families that differ in more than numbers (`cloth_001.obj`, `ball_001.obj`), and the families' meshes do not have the same numbers of vertices and
faces, each family is a body.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from abut.app.check.bodies import Ensemble
from abut.app.check.frames import Frames, expand
from abut.app.check.sources.motions import Track
from abut.app.check.sources.opening import Sampling
from abut.app.check.sources.source import tell_apart
from abut.core.errors import AbutError, InvalidInput

NAMED = re.compile(r"([^\W\d][\w .-]*)=(.+)", re.DOTALL)
NUMBER = re.compile(r"\d+")
SEPARATORS = " ._-#"


def read_bodies(
    arguments: Sequence[str | Path],
    *,
    keep_order: bool = False,
    sampling: Sampling | None = None,
    motions: Iterable[str] = (),
) -> Ensemble:
    """The bodies that the words mean.

    Raises InvalidInput where words match no file, where bodies have different numbers of frames, or a motion is for none of them.
    """
    named: dict[str, list[str | Path]] = {}
    others: list[str | Path] = []
    for argument in arguments:
        match = None if Path(argument).exists() else NAMED.fullmatch(str(argument))
        if match:
            named.setdefault(match[1], []).append(match[2])
        else:
            others.append(argument)
    bodies = {name: Frames(words, keep_order=keep_order, sampling=sampling) for name, words in named.items()}
    if others:
        families = _divide(expand(others, keep_order), keep_order, sampling)
        if len(families) == 1 and not bodies:
            bodies[""] = families[0]
        else:
            names = tell_apart([*bodies, *(_family_name(family.paths[0]) for family in families)])
            bodies |= dict(zip(names[len(bodies) :], families, strict=True))
    return Ensemble(
        bodies, {name: Track(Path(path)) for name, path in split_words(motions, "=", "motion", "NAME=FILE")}
    )


def split_words(words: Iterable[str], separator: str, option: str, form: str) -> list[tuple[str, str]]:
    """Words of two parts, as an option takes them."""
    pairs: list[tuple[str, str]] = []
    for word in words:
        first, found, second = word.partition(separator)
        if not (first and found and second):
            raise InvalidInput(option, f"is {word!r}, expected {form}")
        pairs.append((first, second))
    return pairs


def read_thicknesses(words: Iterable[str]) -> tuple[tuple[str, float], ...]:
    """`NAME=NUMBER` each."""
    thicknesses: list[tuple[str, float]] = []
    for name, text in split_words(words, "=", "thickness", "NAME=NUMBER"):
        try:
            thicknesses.append((name, float(text)))
        except ValueError as error:
            raise InvalidInput("thickness", f"of {name} is {text!r}, expected a number") from error
    return tuple(thicknesses)


def _divide(paths: list[Path], keep_order: bool, sampling: Sampling | None) -> list[Frames]:
    """The families, in the order of their first files; all files as one sequence where they seem to be that."""
    whole = Frames(paths, keep_order=keep_order, sampling=sampling)
    families: dict[tuple[Path, str], list[Path]] = {}
    for path in paths:
        families.setdefault((path.parent, NUMBER.sub("#", path.name)), []).append(path)
    if len(families) == 1 or max(map(len, families.values())) == 1:
        return [whole]
    parts = [Frames(members, keep_order=keep_order, sampling=sampling) for members in families.values()]
    try:
        sizes = {(len(part.mesh.vertices), len(part.mesh.faces)) for part in parts}
    except AbutError:  # a family that cannot be read at all is bad frames of one sequence
        return [whole]
    return parts if len(sizes) > 1 else [whole]


def _family_name(path: Path) -> str:
    """What the names of a family's files have in common, or their folder's name."""
    return NUMBER.sub("#", path.stem).strip(SEPARATORS) or path.absolute().parent.name
