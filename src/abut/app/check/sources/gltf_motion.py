"""What a glTF animation says at a time: places, turns, sizes and weights of nodes (glTF 2.0 specification, section 3.11 and appendix C)."""

from typing import Any, NamedTuple

import numpy as np

from abut.app.check.sources.gltf_data import GltfData
from abut.core.arrays import Floats

PROPERTIES = ("translation", "rotation", "scale", "weights")


class Channel(NamedTuple):
    """One property of one node over time."""

    node: int
    property: str
    times: Floats
    """(k,) ascending"""
    values: Floats
    """(k,w), or (k,3,w) of cubic splines: incoming tangent, value, outgoing tangent"""
    interpolation: str


def read_channels(data: GltfData, animation: dict[str, Any]) -> list[Channel]:
    """The channels that move something."""
    channels: list[Channel] = []
    for channel in animation.get("channels", ()):
        target = channel["target"]
        if "node" not in target or target.get("path") not in PROPERTIES:
            continue
        sampler = animation["samplers"][channel["sampler"]]
        times = data.accessor(sampler["input"])
        if not len(times) or not (np.diff(times) > 0.0).all() or not np.isfinite(times).all():
            raise ValueError("an animation's times do not grow")
        interpolation = sampler.get("interpolation", "LINEAR")
        if interpolation not in ("LINEAR", "STEP", "CUBICSPLINE"):
            raise ValueError(f"{interpolation!r} is no interpolation")
        rows = (len(times), 3, -1) if interpolation == "CUBICSPLINE" else (len(times), -1)
        values = data.accessor(sampler["output"]).reshape(rows)
        channels.append(Channel(int(target["node"]), target["path"], times, values, interpolation))
    return channels


def value_at(channel: Channel, time: float) -> Floats:
    """(w,) the property at a time; before the first and after the last one it stands."""
    times, values = channel.times, channel.values
    cubic = channel.interpolation == "CUBICSPLINE"
    k = int(np.searchsorted(times, time, side="right")) - 1
    if k < 0 or k + 1 >= len(times):
        end = values[0 if k < 0 else -1]
        value = end[1] if cubic else end
    elif channel.interpolation == "STEP":
        value = values[k]
    else:
        length = float(times[k + 1] - times[k])
        s = (time - float(times[k])) / length
        if cubic:
            value = _hermite(values[k, 1], length * values[k, 2], values[k + 1, 1], length * values[k + 1, 0], s)
        elif channel.property == "rotation":
            value = _turn_between(values[k], values[k + 1], s)
        else:
            value = (1.0 - s) * values[k] + s * values[k + 1]
    return value / np.linalg.norm(value) if channel.property == "rotation" else value


def _hermite(p: Floats, m: Floats, q: Floats, n: Floats, s: float) -> Floats:
    """The cubic from p to q with tangents m and n."""
    return (2 * s**3 - 3 * s**2 + 1) * p + (s**3 - 2 * s**2 + s) * m + (3 * s**2 - 2 * s**3) * q + (s**3 - s**2) * n


def _turn_between(p: Floats, q: Floats, s: float) -> Floats:
    """Spherical interpolation of unit quaternions, the shorter way."""
    cosine = float(p @ q)
    if cosine < 0.0:
        q, cosine = -q, -cosine
    angle = float(np.arccos(min(cosine, 1.0)))
    if angle < 1e-9:
        return (1.0 - s) * p + s * q
    return (np.sin((1.0 - s) * angle) * p + np.sin(s * angle) * q) / np.sin(angle)
