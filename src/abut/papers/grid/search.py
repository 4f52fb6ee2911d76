"""Which facets of moving objects meet others: a walk over the dated lists of the voxels that they were entered in.

Facets are numbered in the order of entry, immobile ones first, and each one looks only at those before it, so that a
pair is found from one side only. A mailbox (the stamp of the last facet that looked) keeps it from being tested in a
second voxel. Facets too large for the voxels are in no list. They are compared by box with every facet before and after
them.
"""

from typing import NamedTuple

import numpy as np

from abut.core.arrays import Floats, Integers
from abut.core.jit import kernel
from abut.geometry.crossings import meet_triangle_triangle
from abut.geometry.triangles import closest_triangle_triangle
from abut.papers.grid.lists import DATE, END, FACET, LARGE_COUNT, OLDER, SLOT, Facets, Layer, corners

ANY = -1
PAIRS_AT_ONCE = 4096
ROUND_OUT = 2.0**-51  # relative to the terms: above the rounding error of a side minus the margin
DISTANCE_SLACK = 2.0**-40
"""Relative error allowed to a computed squared distance, so that no pair within the margin is lost."""

VISITED, DUPLICATES, CANDIDATES, EXACT, STAMP = range(5)


class Search(NamedTuple):
    """What a walk needs; `counters` is (voxels visited, duplicates, candidates, exact tests, last stamp)."""

    facets: Facets
    immobile: Layer
    moving: Layer
    mailbox: Integers
    counters: Integers


def search_pairs(search: Search, start: int, stop: int, only: int, margin: float) -> Integers:
    """(k,2) facets that meet: the first from start to stop, the second before it.

    The second is of object `only`, or (ANY) of another group. With a margin, those at most twice the margin apart.
    """
    reach_sq = (2.0 * margin) ** 2 * (1.0 + DISTANCE_SLACK)
    near = np.empty(stop, np.int64)
    found = np.empty((stop + PAIRS_AT_ONCE, 2), np.int64)
    parts = [found[:0]]
    while start < stop:
        start, count = _search_facets(search, start, stop, only, reach_sq, found, near)
        parts.append(found[:count].copy())
    return np.concatenate(parts)


@kernel
def bound_facets(facets: Facets, start: int, stop: int, margin: float) -> None:
    """Set the boxes of facets start to stop, grown by the margin and rounded outwards."""
    for f in range(start, stop):
        a, b, c = corners(facets, f)
        for axis in range(3):
            low, high = min(a[axis], b[axis], c[axis]), max(a[axis], b[axis], c[axis])
            if margin > 0.0:
                low -= margin + ROUND_OUT * (abs(low) + margin)
                high += margin + ROUND_OUT * (abs(high) + margin)
            facets.boxes[f, axis] = low
            facets.boxes[f, axis + 3] = high


@kernel
def _overlap(boxes: Floats, f: int, g: int) -> bool:
    return (
        boxes[f, 0] <= boxes[g, 3]
        and boxes[g, 0] <= boxes[f, 3]
        and boxes[f, 1] <= boxes[g, 4]
        and boxes[g, 1] <= boxes[f, 4]
        and boxes[f, 2] <= boxes[g, 5]
        and boxes[g, 2] <= boxes[f, 5]
    )


@kernel
def _gather_list(
    links: Integers,
    entry: int,
    boxes: Floats,
    mailbox: Integers,
    counters: Integers,
    f: int,
    kinds: Integers,
    kind: int,
    same: bool,
    near: Integers,
    count: int,
) -> int:
    """Add to `near` the facets of one list that f has not yet met and whose boxes overlap its box."""
    stamp = counters[STAMP]
    duplicates = candidates = 0
    while entry != END:
        g = links[entry, FACET]
        entry = links[entry, OLDER]
        if (kinds[g] == kind) == same:
            if mailbox[g] == stamp:
                duplicates += 1
            else:
                mailbox[g] = stamp
                candidates += 1
                if _overlap(boxes, f, g):
                    near[count] = g
                    count += 1
    counters[DUPLICATES] += duplicates
    counters[CANDIDATES] += candidates
    return count


@kernel
def _gather(search: Search, f: int, kinds: Integers, kind: int, same: bool, near: Integers) -> int:
    """List in `near` the facets to be tested with f, and count them. Each is there once, so there is room."""
    boxes, mailbox, counters = search.facets.boxes, search.mailbox, search.counters
    links, spans = search.moving.links, search.moving.spans
    heads, dates, immobile_links = search.immobile.heads, search.immobile.dates, search.immobile.links
    today = search.immobile.counts[DATE]
    count = 0
    for e in range(spans[f, 0], spans[f, 1]):
        counters[VISITED] += 1
        older, slot = int(links[e, OLDER]), links[e, SLOT]
        if older != END:
            count = _gather_list(links, older, boxes, mailbox, counters, f, kinds, kind, same, near, count)
        if dates[slot] == today:
            newest = int(heads[slot])
            count = _gather_list(immobile_links, newest, boxes, mailbox, counters, f, kinds, kind, same, near, count)
    return count


@kernel
def _gather_large(search: Search, f: int, kinds: Integers, kind: int, same: bool, near: Integers, count: int) -> int:
    """Add facets that are in no list: all before f if it is large itself, otherwise the large ones before it."""
    boxes, counters = search.facets.boxes, search.counters
    if search.moving.spans[f, 0] == search.moving.spans[f, 1]:
        for g in range(f):
            if (kinds[g] == kind) == same:
                counters[CANDIDATES] += 1
                if _overlap(boxes, f, g):
                    near[count] = g
                    count += 1
        return count
    for layer in (search.immobile, search.moving):
        for i in range(layer.counts[LARGE_COUNT]):
            g = layer.large[i]
            if g < f and (kinds[g] == kind) == same:
                counters[CANDIDATES] += 1
                if _overlap(boxes, f, g):
                    near[count] = g
                    count += 1
    return count


@kernel
def _meet(facets: Facets, f: int, g: int, reach_sq: float) -> bool:
    a0, a1, a2 = corners(facets, f)
    b0, b1, b2 = corners(facets, g)
    if reach_sq == 0.0:
        return meet_triangle_triangle(a0, a1, a2, b0, b1, b2)
    return closest_triangle_triangle(a0, a1, a2, b0, b1, b2)[4] <= reach_sq


@kernel
def _search_facets(
    search: Search, start: int, stop: int, only: int, reach_sq: float, found: Integers, near: Integers
) -> tuple[int, int]:
    """Look from facet `start` on until there may be no room; returns the next facet and the number of pairs found."""
    facets, counters = search.facets, search.counters
    has_large = search.immobile.counts[LARGE_COUNT] + search.moving.counts[LARGE_COUNT] > 0
    kinds = facets.groups if only == ANY else facets.owners
    count = 0
    for f in range(start, stop):
        if count + f > len(found):
            return f, count
        counters[STAMP] += 1
        kind = facets.groups[f] if only == ANY else only
        near_count = _gather(search, f, kinds, kind, only != ANY, near)
        if has_large:
            near_count = _gather_large(search, f, kinds, kind, only != ANY, near, near_count)
        counters[EXACT] += near_count
        for i in range(near_count):
            if _meet(facets, f, near[i], reach_sq):
                found[count, 0] = f
                found[count, 1] = near[i]
                count += 1
    return stop, count
