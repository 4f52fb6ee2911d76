"""The exact stage's tables: which row of a workspace holds what, and its formulas as programs of `integers`.

A linear function has rows of 1 and t, a quadratic of 1, t and t², a cubic of 1 … t³; in Bernstein form, its coefficients on an interval.
"""

from abut.ccd.impact.exact.integers import product, program, rows, total

# The header's other columns
MODE, LEVEL, KEPT_LEVEL = 1, 2, 3
INSIDE, AT_START, RATIO = 0, 1, 2
"""Modes: the root is inside the interval, it is its left end (also in NUM/DEN), or it is NUM/DEN."""

ONE, K, D, NUM, DEN = rows(1, 5)
B0, B1, B2, B3 = rows(6, 4)  # the cubic on the interval
P0, P1, P2, P3 = rows(10, 4)  # its coefficients of 1, t, t², t³
Q0, Q1, Q2 = rows(14, 3)  # coefficients of 1, t, t² of a quadratic
C0, C1, C2 = rows(17, 3)  # the same on the interval
T0, T1, T2, T3, T4, T5 = rows(20, 6)
(UNSHIFTED,) = rows(0, 1)  # an exponent that is no literal either
M, Z = rows(26, 2)  # part M of Z = 2ᵏ equal ones of the interval
N0, N1, N2, N3 = rows(28, 4)  # the cubic there
KEPT0, KEPT1, KEPT2, KEPT3, KEPT_K, KEPT_D = rows(32, 6)  # the interval as it was before it was narrowed
ROOT_ROWS = 38

KEPT, STATE = (KEPT0, KEPT1, KEPT2, KEPT3, KEPT_K, KEPT_D), (B0, B1, B2, B3, K, D)

TO_BERNSTEIN = program(
    total(B0, (3, P0)),
    total(B1, (3, P0), (1, P1)),
    total(B2, (3, P0), (2, P1), (1, P2)),
    total(B3, (3, P0), (3, P1), (3, P2), (3, P3)),
)
MIDDLE = program(total(T0, (1, B0), (3, B1), (3, B2), (1, B3)))
KEEP_LEFT = program(
    total(B3, (1, B0), (3, B1), (3, B2), (1, B3)),
    total(B2, (2, B0), (4, B1), (2, B2)),
    total(B1, (4, B0), (4, B1)),
    total(B0, (8, B0)),
    total(K, (2, K)),
    total(D, (2, D)),
)
KEEP_RIGHT = program(
    total(B0, (1, B0), (3, B1), (3, B2), (1, B3)),
    total(B1, (2, B1), (4, B2), (2, B3)),
    total(B2, (4, B2), (4, B3)),
    total(B3, (8, B3)),
    total(K, (2, K), (1, ONE)),
    total(D, (2, D)),
)
# With d1, d2, d3 the differences of the coefficients, the cubic on [M/Z, (M + 1)/Z] of the interval, times Z³: the coefficients are sums of
# A = B0·Z³ + 3·d1·M·Z² + 3·d2·M²·Z + d3·M³, S1 = d1·Z² + 2·d2·M·Z + d3·M², S2 = d2·Z + d3·M and d3.
ZOOM = program(
    total(T0, (1, B1), (-1, B0)),
    total(T1, (1, B0), (-2, B1), (1, B2)),
    total(T2, (-1, B0), (3, B1), (-3, B2), (1, B3)),
    product(N0, T0, Z),
    product(N1, T1, Z),
    product(N2, T2, M),
    product(T3, T1, M),
    total(T3, (1, T3), (1, N0)),
    product(T4, T3, Z),
    total(T3, (1, N1), (1, N2)),  # S2
    product(T5, T3, M),
    total(T4, (1, T4), (1, T5)),  # S1
    total(N2, (1, N2), (3, N1)),
    product(T5, N2, M),
    product(N1, N0, Z),
    total(T5, (1, T5), (3, N1)),
    product(N0, T5, M),
    product(T5, B0, Z),
    product(N1, T5, Z),
    product(T5, N1, Z),
    total(N0, (1, N0), (1, T5)),
    total(N1, (1, N0), (1, T4)),
    total(N3, (1, N0), (3, T4), (3, T3), (1, T2)),
    total(N2, (1, N0), (2, T4), (1, T3)),
)
TAKE_ZOOM = program(
    total(B0, (1, N0)),
    total(B1, (1, N1)),
    total(B2, (1, N2)),
    total(B3, (1, N3)),
    product(T0, K, Z),
    total(K, (1, T0), (1, M)),
    product(T0, D, Z),
    total(D, (1, T0)),
)
KEEP = program(*[total(a, (1, b)) for a, b in zip(KEPT, STATE, strict=True)])
RESTORE = program(*[total(b, (1, a)) for a, b in zip(KEPT, STATE, strict=True)])
TO_NEXT = program(
    total(T0, (-1, B0), (6, B1), (-12, B2), (8, B3)),
    total(T1, (1, B1), (-4, B2), (4, B3)),
    total(B1, (-1, B2), (2, B3)),
    total(B0, (1, B3)),
    total(B2, (1, T1)),
    total(B3, (1, T0)),
    total(K, (1, K), (1, ONE)),
)
TO_PARENT = program(  # times 8, when the interval is the left half of its parent
    total(B3, (-1, B0), (6, B1), (-12, B2), (8, B3)),
    total(B2, (1, B0), (-4, B1), (4, B2)),
    total(B1, (-1, B0), (2, B1)),
)
QUADRATIC_LEFT = program(
    total(C2, (1, C0), (2, C1), (1, C2)),
    total(C1, (2, C0), (2, C1)),
    total(C0, (4, C0)),
)
QUADRATIC_RIGHT = program(
    total(C0, (1, C0), (2, C1), (1, C2)),
    total(C1, (2, C1), (2, C2)),
    total(C2, (4, C2)),
)
# q on the interval, times 2·4^level: B0 = q0·D² + q1·K·D + q2·K², B2 the same with K + 1, and 2·B1 = B0 + B2 − q2
RESTRICT = program(
    product(T0, Q2, K),
    product(T1, Q1, D),
    total(T2, (1, T0), (1, T1)),
    product(T3, T2, K),
    product(T2, Q0, D),
    product(T4, T2, D),
    total(T3, (1, T3), (1, T4)),
    total(T4, (1, T3), (1, T1), (2, T0), (1, Q2)),
    total(C0, (2, T3)),
    total(C1, (1, T3), (1, T4), (-1, Q2)),
    total(C2, (2, T4)),
)
QUADRATIC_AT_RATIO = program(
    product(T0, Q2, NUM),
    product(T1, Q1, DEN),
    total(T0, (1, T0), (1, T1)),
    product(T1, T0, NUM),
    product(T0, Q0, DEN),
    product(T2, T0, DEN),
    total(T0, (1, T1), (1, T2)),
)
CUBIC_AT_RATIO = program(
    product(T0, P3, NUM),
    product(T1, P2, DEN),
    total(T0, (1, T0), (1, T1)),
    product(T1, T0, NUM),
    product(T2, DEN, DEN),
    product(T0, P1, T2),
    total(T0, (1, T0), (1, T1)),
    product(T1, T0, NUM),
    product(T0, P0, T2),
    product(T2, T0, DEN),
    total(T0, (1, T1), (1, T2)),
)
RATIO_MINUS_START = program(  # NUM/DEN − K/D, and NUM/DEN − (K + 1)/D, times D·DEN
    product(T0, NUM, D),
    product(T1, K, DEN),
    total(T0, (1, T0), (-1, T1)),
    total(T1, (1, T0), (-1, DEN)),
)
NEGATE_RATIO = program(total(NUM, (-1, NUM)), total(DEN, (-1, DEN)))
LINEAR_ROOT = program(total(NUM, (-1, Q0)), total(DEN, (1, Q1)))
# q2²·p = (…)·q + R1·t + R0 with L = q2·p2 − p3·q1, R1 = q2²·p1 − q2·p3·q0 − L·q1, R0 = q2²·p0 − L·q0; the root is −R0/R1
REMAINDER_ROOT = program(
    product(T0, Q2, P2),
    product(T1, P3, Q1),
    total(T0, (1, T0), (-1, T1)),
    product(T1, Q2, Q2),
    product(T2, T1, P1),
    product(T3, Q2, P3),
    product(T4, T3, Q0),
    product(T3, T0, Q1),
    total(DEN, (1, T2), (-1, T4), (-1, T3)),
    product(T2, T1, P0),
    product(T3, T0, Q0),
    total(NUM, (1, T3), (-1, T2)),
)

# Rows of the pair
(PATH,) = rows(ROOT_ROWS, 1)  # r_j along axis d: PATH + 2·(3·j + d), j = 0, 1, 2
SECOND, THIRD = PATH + 18, PATH + 24  # r2 − r1 and r3 − r1
CROSS = PATH + 30  # c_k along axis d: CROSS + 3·(3·k + d), k = 0, 1, 2
ALL = CROSS + 27  # c1 + c2 + c3 along axis d: ALL + 3·d
NORMAL = ALL + 9  # N along axis d: NORMAL + 3·d
SCALAR = NORMAL + 9  # scalar products, up to four
EXACT_ROWS = int(SCALAR) + 12
MINUS, NOT, PLUS = rows(-1, 3)  # factors that are no literals either

END_TO_END = program(*[total(PATH + i + 1, (1, PATH + i + 1), (-1, PATH + i)) for i in range(0, 18, 2)])
SUM_OF_CROSSES = program(*[total(ALL + i, (1, CROSS + i), (1, CROSS + 9 + i), (1, CROSS + 18 + i)) for i in range(9)])
NORMAL_FACE = program(*[total(NORMAL + i, (1, ALL + i)) for i in range(9)])
NORMAL_EDGES = program(*[total(NORMAL + i, (1, CROSS + 9 + i), (1, CROSS + 18 + i)) for i in range(9)])
DIFFERENCES = program(
    *[total(SECOND + i, (1, PATH + 6 + i), (-1, PATH + i)) for i in range(6)],
    *[total(THIRD + i, (1, PATH + 12 + i), (-1, PATH + i)) for i in range(6)],
)
# P = Σ (c1 along d)·(r1 along d), coefficient by coefficient
COPLANARITY = program(
    *[
        line
        for i in range(4)
        for line in [
            total(P0 + i, (0, P0)),
            *[
                step
                for d in range(3)
                for j in range(2)
                if 0 <= i - j < 3
                for step in (
                    product(T0, CROSS + 3 * d + i - j, PATH + 2 * d + j),
                    total(P0 + i, (1, P0 + i), (1, T0)),
                )
            ],
        ]
    ]
)
# 9·p3·P = (…)·P′ + R with R = (6·p1·p3 − 2·p2²)·t + (9·p0·p3 − p1·p2)
DOUBLE_ROOT = program(
    product(T0, P1, P3),
    product(T1, P2, P2),
    total(DEN, (6, T0), (-2, T1)),
    product(T0, P0, P3),
    product(T1, P1, P2),
    total(NUM, (-9, T0), (1, T1)),
)
TRIPLE_ROOT = program(total(NUM, (-1, P2)), total(DEN, (3, P3)))
SLOPE_AT_RATIO = program(
    product(T0, P3, NUM),
    product(T1, P2, DEN),
    total(T0, (3, T0), (2, T1)),
    product(T1, T0, NUM),
    product(T0, DEN, DEN),
    product(T2, T0, P1),
    total(T0, (1, T1), (1, T2)),
)
OTHER_ROOT = program(  # −p2/p3 − 2·NUM/DEN
    product(T0, P3, NUM),
    product(T1, P2, DEN),
    total(T5, (-1, T1), (-2, T0)),
    product(T3, P3, DEN),
)
RATIO_FROM_1 = program(total(T0, (1, DEN), (-1, NUM)))
ENDS = program(total(P0, (0, ONE)), total(P1, (1, ONE)), total(P2, (-1, ONE)), total(P3, (0, ONE)))  # t·(1 − t)
