"""Numbers in, numbers out: element functions on scalars and tuples, which know no mesh and no array.

`vec` vector algebra · `predicates` exact orientation signs · `segments`, `triangles` closest points · `crossings` exact
intersection tests · `roots` enclosures of the roots of a cubic · `eigen` axes of a symmetric matrix.
"""

from abut.geometry import crossings, eigen, predicates, roots, segments, triangles, vec

__all__ = ["crossings", "eigen", "predicates", "roots", "segments", "triangles", "vec"]
