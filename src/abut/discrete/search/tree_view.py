"""A packet tree as questions about points and rays see it: one type for both kinds of boxes, so that their kernels are compiled once."""

from typing import Any, NamedTuple

from abut.core.handles import unpack
from abut.core.jit import element
from abut.core.scratch import load
from abut.trees.packets.packet_tree import Handle, Table


class TreeView(NamedTuple):
    """The fields of a `PacketTree`, arrays as pointers, and whether its boxes are oriented."""

    boxes: Any
    oriented: bool
    child: Any
    lanes: Any
    corners: Any
    frame: Any
    root: int
    slot_count: int


@element
def open_view(handle: Handle, oriented: bool) -> TreeView:
    """The tree behind a handle, in a kernel."""
    table = unpack(Table, handle)
    frame = table.frame
    return TreeView(
        table.boxes,
        oriented,
        table.child,
        table.lanes,
        table.corners,
        (load(frame, 0), load(frame, 1), load(frame, 2), load(frame, 3)),
        table.root,
        table.slot_count,
    )
