"""glTF files made by hand, as exporters write them: buffers inside, beside or behind the document."""

import base64
import json
import struct

import numpy as np

KINDS = {"<f4": 5126, "<u2": 5123, "<u1": 5121, "<u4": 5125, "<i2": 5122}
TYPES = {(): "SCALAR", (3,): "VEC3", (4,): "VEC4", (4, 4): "MAT4"}


class Gltf:
    """A document that grows: arrays become accessors."""

    def __init__(self):
        self.document = {"asset": {"version": "2.0"}, "scene": 0, "accessors": [], "bufferViews": [], "buffers": []}
        self.blob = b""

    def add(self, values, kind="<f4", **more):
        data = np.asarray(values)
        raw = (data.swapaxes(-1, -2) if data.ndim == 3 else data).astype(kind).tobytes()
        self.blob += b"\0" * (-len(self.blob) % 4)
        self.document["bufferViews"].append({"buffer": 0, "byteOffset": len(self.blob), "byteLength": len(raw)})
        self.blob += raw
        accessor = {
            "bufferView": len(self.document["bufferViews"]) - 1,
            "componentType": KINDS[kind],
            "count": len(data),
            "type": TYPES[data.shape[1:]],
            **more,
        }
        self.document["accessors"].append(accessor)
        return len(self.document["accessors"]) - 1

    def save(self, path, inside=False):
        document = self.document
        document["buffers"] = [{"byteLength": len(self.blob)}]
        if path.suffix == ".glb":
            text = json.dumps(document).encode()
            text += b" " * (-len(text) % 4)
            blob = self.blob + b"\0" * (-len(self.blob) % 4)
            chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(blob), b"BIN\0") + blob
            path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
            return path
        if inside:
            document["buffers"][0]["uri"] = (
                "data:application/octet-stream;base64," + base64.b64encode(self.blob).decode()
            )
        else:
            document["buffers"][0]["uri"] = "a%20buffer.bin"
            (path.parent / "a buffer.bin").write_bytes(self.blob)
        path.write_text(json.dumps(document))
        return path


def moving(property_name, times, values, *, interpolation="LINEAR", node=None, mesh=None, kind="<f4", **more):
    """A triangle on a node that an animation moves."""
    gltf = Gltf()
    points = gltf.add([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    corners = gltf.add([0, 1, 2], "<u2")
    primitive = {"attributes": {"POSITION": points}, "indices": corners, **(mesh or {})}
    sampler = {"input": gltf.add(times), "output": gltf.add(values, kind, **more), "interpolation": interpolation}
    gltf.document |= {
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": "flag", **(node or {})}],
        "meshes": [{"primitives": [primitive]}],
        "animations": [
            {"channels": [{"sampler": 0, "target": {"node": 0, "path": property_name}}], "samplers": [sampler]}
        ],
    }
    return gltf
