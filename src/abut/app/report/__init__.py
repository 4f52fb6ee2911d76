"""The page of `abut check` and `abut view`: one HTML file that opens without a network and shows the animation and its contacts in 3D.

`write_report` packs what the page shows (selection, packing), fills the template, and inlines the style and the viewer, which are
plain files beside this one. Positions are rounded to 16 bits per axis for the picture only; every figure is as the check found it.
A file that is there is replaced, and never half written.
"""

from abut.app.report.writing import write_report, write_view

__all__ = ["write_report", "write_view"]
