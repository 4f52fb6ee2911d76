"""The regions of a volume mesh: which one each cell is of, what they are called, and what becomes of them.

Regions are told, in this order, by Gmsh's physical groups, by sets of cells (Abaqus), by Medit's references, by a table that is called as one of
REGION_TABLES; or by the table that the user names. Tags have the names of Gmsh's groups of their dimension, else their numbers as names.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from abut.cells.build.volume_files import Block, VolumeMesh, as_tags
from abut.cells.edit.interior import NO_REGION
from abut.core.arrays import Integers
from abut.core.errors import InvalidInput

Role: TypeAlias = Literal["free", "obstacle", "left out"]
"""What becomes of the cells of a region."""
ROLES = ("free", "obstacle", "left out")
RegionRoles: TypeAlias = Mapping[str, Role] | Mapping[int, Role] | Mapping[str | int, Role]
REGION_TABLES = (
    "gmsh:physical",
    "medit:ref",
    "region",
    "regions",
    "material",
    "Material",
    "MaterialIds",
    "CellEntityIds",
)


class Regions(NamedTuple):
    """Of all cells of some blocks, one block after another."""

    number: Integers
    """(cells,) rows of `names`, NO_REGION for none"""
    names: tuple[str, ...]
    tags: dict[int, str]
    """the names of regions that have a number as well"""


def find_regions(
    mesh: VolumeMesh, blocks: list[Block], counts: list[int], table: str | None, roles: frozenset[str], dimension: int
) -> Regions:
    """The regions of the cells in these blocks, which have so many rows."""
    if table is not None:
        if table in mesh.cell_data:
            return _by_tags(mesh, table, blocks, counts, dimension)
        known = sorted([*mesh.cell_data, *(["cell_sets"] if mesh.cell_sets else [])])
        if table != "cell_sets" or not mesh.cell_sets:
            raise InvalidInput("table", f"is {table!r}, but the tables are {', '.join(map(repr, known)) or 'none'}")
        return _by_sets(mesh, blocks, counts, roles)
    if "gmsh:physical" not in mesh.cell_data:
        found = _by_sets(mesh, blocks, counts, roles)
        if found.names:
            return found
    for name in REGION_TABLES:
        if name in mesh.cell_data:
            return _by_tags(mesh, name, blocks, counts, dimension)
    return Regions(np.full(sum(counts), NO_REGION), (), {})


def _by_tags(mesh: VolumeMesh, table: str, blocks: list[Block], counts: list[int], dimension: int) -> Regions:
    columns = [as_tags(mesh.cell_data[table][block.number], count) for block, count in zip(blocks, counts, strict=True)]
    for block, column in zip(blocks, columns, strict=True):
        if column is None:
            raise InvalidInput(mesh.label(f"cell_data[{table!r}]"), "is no whole number for each cell", block.number)
    tags, number = np.unique(np.concatenate(columns), return_inverse=True)
    called: dict[int, str] = {}
    for name, entry in mesh.field_data.items() if table == "gmsh:physical" else ():
        pair = as_tags(entry, 2)
        if pair is not None and pair[1] == dimension:
            called[int(pair[0])] = str(name)
    names = {tag: called.get(tag, str(tag)) for tag in tags.tolist()}
    return Regions(number.reshape(-1).astype(np.int64), tuple(names.values()), names)


def _by_sets(mesh: VolumeMesh, blocks: list[Block], counts: list[int], roles: frozenset[str]) -> Regions:
    """Sets that hold every cell tell nothing. Where two sets share cells, those count that `roles` names."""
    start = np.cumsum([0, *counts])
    members, everything = dict[str, NDArray[np.bool_]](), None
    for name, table in mesh.cell_sets.items():
        inside = np.zeros(start[-1], np.bool_)
        for first, count, block in zip(start[:-1].tolist(), counts, blocks, strict=True):
            entry = table[block.number]
            rows = np.asarray([] if entry is None else entry)
            if rows.size and (rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= count):
                raise InvalidInput(mesh.label(f"cell_sets[{name!r}]"), "names cells that are not there", block.number)
            inside[first + rows.reshape(-1).astype(np.int64)] = True
        if inside.any() and (not inside.all() or name in roles):
            members[name] = inside
        elif inside.any():
            everything = {name: inside}
    members = members or everything or {}
    ordered = sorted(members, key=lambda name: name not in roles)
    number, by_name = np.full(start[-1], NO_REGION), np.zeros(start[-1], np.bool_)
    for k, name in enumerate(ordered):
        taken = members[name] & (number != NO_REGION)
        if name not in roles:
            taken &= ~by_name
        if taken.any():
            cell = int(np.argmax(taken))
            words = f"cell {cell} is in {ordered[number[cell]]!r} and in {name!r}: name one of them in `regions`"
            raise InvalidInput(mesh.label("cell_sets"), words)
        by_name |= members[name] & (name in roles)
        number[members[name] & (number == NO_REGION)] = k
    return Regions(number, tuple(ordered), {})


def read_roles(given: RegionRoles | None, regions: Regions) -> list[Role]:
    """The role of each region, "free" where none is named; names that no region has, and words that are no roles, are refused."""
    roles: list[Role] = ["free"] * len(regions.names)
    if given is None:
        return roles
    if not isinstance(given, Mapping):
        raise InvalidInput("regions", f"is a {type(given).__name__}, expected what becomes of regions, by their names")
    entries: Any = given.items()
    for key, role in entries:
        is_tag = isinstance(key, int | np.integer) and not isinstance(key, bool)
        name = regions.tags.get(int(key)) if is_tag else key
        if not isinstance(name, str) or name not in regions.names:
            told = ", ".join(map(repr, regions.names)) or "none"
            raise InvalidInput("regions", f"there is no region {key!r}; there are {told}")
        if not isinstance(role, str) or role not in ROLES:
            raise InvalidInput("regions", f"{name!r} is to be {role!r}, expected one of {', '.join(map(repr, ROLES))}")
        roles[regions.names.index(name)] = role  # pyright: ignore[reportArgumentType]
    return roles
