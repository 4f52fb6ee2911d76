"""The arrays of a glTF 2.0 file: its document, its buffers and what accessors read from them (Khronos, glTF 2.0 specification, section 3.6)."""

import base64
import binascii
import json
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from abut.app.check.sources.source import open_regular
from abut.core.arrays import Floats
from abut.core.errors import InvalidInput, Unsupported

MAGIC, JSON_CHUNK, BINARY_CHUNK = b"glTF", 0x4E4F534A, 0x004E4942
NUMBER_TYPES: dict[int, Any] = {
    5120: np.int8,
    5121: np.uint8,
    5122: np.int16,
    5123: np.uint16,
    5125: np.uint32,
    5126: np.float32,
}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
MOST_NUMBERS = 1 << 31
READ_EXTENSIONS = frozenset(
    {"KHR_mesh_quantization", "KHR_texture_transform", "KHR_lights_punctual", "KHR_animation_pointer"}
)
"""Extensions that a file may require and that leave positions as they are, or are read here. All KHR_materials_… do too."""


class GltfData:
    """A document and its buffers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files = [path]
        with open_regular(path) as file:
            content = file.read()
        own: bytes | None = None
        if path.suffix.lower() == ".glb":
            content, own = _split(content)
        try:
            document: Any = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"it is not JSON, or not all of it: {error}") from error
        if not isinstance(document, dict):
            raise ValueError("it is JSON, but not the object that glTF asks for")
        self.document: dict[str, Any] = document
        for extension in map(str, self.list_of("extensionsRequired")):
            if extension not in READ_EXTENSIONS and not extension.startswith(("KHR_materials_", "KHR_texture_")):
                raise Unsupported(f"{path}: needs the extension {extension}, which is not read")
        self._buffers = [self._read_buffer(buffer, own) for buffer in self.list_of("buffers")]

    def list_of(self, name: str) -> list[Any]:
        """A list of the document; empty where it has none."""
        return self.document.get(name, [])

    def accessor(self, number: int) -> Floats:
        """(n,) of scalars, else (n,w): numbers as they are meant, normalized ones divided."""
        accessor = self.list_of("accessors")[_index(number)]
        width, count = WIDTHS[accessor["type"]], int(accessor["count"])
        if not 0 <= count * width < MOST_NUMBERS:
            raise ValueError(f"accessor {number} has {count} rows")
        kind = np.dtype(NUMBER_TYPES[accessor["componentType"]]).newbyteorder("<")
        values = np.zeros((count, width))
        if "bufferView" in accessor:
            values[:] = self._view(accessor["bufferView"], accessor.get("byteOffset", 0), kind, count, width)
        if "sparse" in accessor:
            sparse = accessor["sparse"]
            changed, place, value = int(sparse["count"]), sparse["indices"], sparse["values"]
            place_kind = np.dtype(NUMBER_TYPES[place["componentType"]]).newbyteorder("<")
            rows = self._view(place["bufferView"], place.get("byteOffset", 0), place_kind, changed, 1).reshape(-1)
            values[rows] = self._view(value["bufferView"], value.get("byteOffset", 0), kind, changed, width)
        if accessor.get("normalized", False) and kind.kind in "iu":
            values = np.maximum(values / np.iinfo(kind.type).max, -1.0)
        return values.reshape(-1) if width == 1 else values

    def _view(self, number: int, offset: int, kind: np.dtype[Any], count: int, width: int) -> Any:
        """(count,width) of a buffer, with the stride of its view."""
        view = self.list_of("bufferViews")[_index(number)]
        buffer = self._buffers[_index(view["buffer"])]
        row = kind.itemsize * width
        stride = int(view.get("byteStride", row))
        start = int(view.get("byteOffset", 0)) + int(offset)
        if count and not (start >= 0 and stride >= 0 and start + (count - 1) * stride + row <= len(buffer)):
            raise ValueError(f"bufferView {number} ends behind its buffer")
        if not count:
            return np.empty((0, width), kind)
        return np.ndarray((count, width), kind, buffer, start, (stride, kind.itemsize))

    def _read_buffer(self, buffer: dict[str, Any], own: bytes | None) -> bytes:
        uri = buffer.get("uri")
        if uri is None:
            if own is None:
                raise ValueError("a buffer lies nowhere")
            return own
        if uri.startswith("data:"):
            head, _, text = uri.partition(",")
            if not head.endswith(";base64"):
                raise ValueError("a buffer's data URI is not base64")
            try:
                return base64.b64decode(text, validate=True)
            except binascii.Error as error:
                raise ValueError(f"a buffer's data URI is not base64 ({error})") from error
        if ":" in uri.split("/")[0]:
            raise Unsupported(f"{self.path}: a buffer lies at {uri}, which is no file beside it")
        path = self.path.parent / unquote(uri)
        self.files.append(path)
        if not path.is_file():
            raise InvalidInput(str(self.path), f"needs {path.name}, which does not exist")
        with open_regular(path) as file:
            return file.read()


def _index(number: Any) -> int:
    """A place in a list of the document, where negative numbers mean nothing."""
    if not isinstance(number, int) or number < 0:
        raise ValueError(f"{number!r} is no index")
    return number


def _split(content: bytes) -> tuple[bytes, bytes | None]:
    """The document and the binary part of a .glb file."""
    magic, version, _ = struct.unpack_from("<4sII", content)
    if magic != MAGIC or version != 2:
        raise ValueError("it is no binary glTF 2.0")
    document, own, at = None, None, 12
    while at + 8 <= len(content):
        length, kind = struct.unpack_from("<II", content, at)
        part = content[at + 8 : at + 8 + length]
        if len(part) < length:
            raise ValueError("it is not whole")
        if kind == JSON_CHUNK and document is None:
            document = part
        elif kind == BINARY_CHUNK and own is None:
            own = part
        at += 8 + length
    if document is None:
        raise ValueError("it has no document")
    return document, own
