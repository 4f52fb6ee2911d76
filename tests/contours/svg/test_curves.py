"""Arcs follow their ellipse, for any radii and chords."""

import numpy as np
import pytest

from abut import InvalidInput
from abut.contours import Contour, svg
from abut.core import jit


def sampled(contour, each):
    return contour.point(np.arange(len(contour) * each) / each)


def test_arcs_follow_the_ellipse_they_were_cut_from():
    """The other way round: from a center, radii and angles to ends and flags (SVG 1.1, F.6.4), in points of the ellipse itself."""
    rng = np.random.default_rng(3)
    for _ in range(5 if jit.INTERPRETED else 200):
        radii, turn = 10.0 ** rng.uniform(-3, 3, 2), rng.uniform(-7, 7)
        center, begin, span = (
            rng.normal(size=2) * radii.max(),
            rng.uniform(-7, 7),
            rng.uniform(0.01, 6.2) * rng.choice([-1, 1]),
        )
        c, s = np.cos(turn), np.sin(turn)

        def place(angle, radii=radii, c=c, s=s, center=center):
            x, y = radii[0] * np.cos(angle), radii[1] * np.sin(angle)
            return np.stack([c * x - s * y, s * x + c * y], axis=-1) + center

        (x0, y0), (x1, y1) = place(np.array([begin, begin + span])).tolist()
        radius, other = radii.tolist()
        flags = f"{np.degrees(turn):.17g} {int(abs(span) > np.pi)} {int(span > 0)}"
        drawn = Contour.from_svg(f"M{x0!r} {y0!r}A{radius!r} {other!r} {flags} {x1!r} {y1!r}Z")
        p = drawn.point(np.arange((len(drawn) - 1) * 20 + 1) / 20) - center
        away = np.hypot((c * p[:, 0] + s * p[:, 1]) / radii[0], (c * p[:, 1] - s * p[:, 0]) / radii[1])
        assert np.abs(away - 1.0).max() < 1e-7
        middle = place(begin + 0.5 * span)
        assert np.hypot(*(sampled(drawn, 400) - middle).T).min() < 0.01 * radii.max()


@pytest.mark.parametrize("radius", [1e2, 1e5, 1e8, 1e12, 1e20, 1e60, 1e75])
@pytest.mark.parametrize("flags", ["0 0", "0 1"])
def test_short_arcs_of_large_circles_are_as_flat_as_they_should_be(radius, flags):
    """Between (0, 0) and (1, 0), a circle of radius r rises 1/8r; control points came from the far center once, r·1e-16 off."""
    drawn = svg.parse_path(f"M0 0A{radius} {radius} 0 {flags} 1 0V1H0Z")[0][0]
    np.testing.assert_allclose(drawn[:, 0], [0, 1 / 3, 2 / 3, 1], atol=0.1 / radius)
    rise = 0.75 * drawn[1, 1] if flags == "0 0" else -0.75 * drawn[1, 1]
    assert rise == pytest.approx(1 / (8 * radius), rel=1e-3)


def test_large_arcs_of_tiny_chords_are_whole_ellipses():
    for chord in (1e-3, 1e-9, 1e-15, 1e-60, 1e-300, 5e-324):
        drawn = Contour.from_segments(svg.parse_path(f"M0 0A2 2 0 1 1 {chord} 0Z")[0])
        assert drawn.area == pytest.approx(4 * np.pi, rel=1e-3 * chord + 1e-6)


def test_arcs_with_radii_too_small_are_half_ellipses():
    for radius in (1e-300, 1e-9, 0.2, 0.5):
        drawn = Contour.from_svg(f"M0 0A{radius} {radius} 0 0 1 1 0Z")
        assert drawn.area == pytest.approx(np.pi / 8, rel=1e-6)
    flat = Contour.from_svg("M0 0A3 0 20 1 1 1 0A0 3 0 0 0 1 1z")
    np.testing.assert_allclose(flat.segments[0], [(0, 0), (1 / 3, 0), (2 / 3, 0), (1, 0)], atol=1e-15)
    with pytest.raises(InvalidInput, match="too different"):
        Contour.from_svg("M0 0A1 1e-200 0 0 1 1 0z")
    with pytest.raises(InvalidInput, match="enlarged"):
        Contour.from_svg("M-9e74 -9e74A1e-100 1 0 0 1 9e74 9e74z")
