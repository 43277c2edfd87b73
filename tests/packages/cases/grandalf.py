"""Layout of graphs."""

from grandalf.graphs import Edge, Graph, Vertex
from grandalf.layouts import SugiyamaLayout
from grandalf.utils import geometry

from tests.packages.case import blend, case

REQUIREMENTS = ("grandalf==0.8",)
FIELD = "graphs"


class View:
    def __init__(self, w, h):
        self.w, self.h = w, h
        self.xy = (0.0, 0.0)


def laid_out(w, h):
    V = [Vertex(k) for k in range(4)]
    g = Graph(V, [Edge(V[a], V[b]) for a, b in ((0, 1), (0, 2), (1, 3), (2, 3))])
    for k, v in enumerate(V):
        v.view = View(w + k, h)
    sug = SugiyamaLayout(g.C[0])
    sug.init_all()
    sug.draw()
    return sum(v.view.xy[0] ** 2 + 0.3 * v.view.xy[1] for v in V)


CASES = [
    case("grandalf.layouts.SugiyamaLayout.draw", laid_out, 10.0, 5.0),
    case("grandalf.utils.geometry.intersect2lines",
         lambda x, y: blend(geometry.intersect2lines((0.0, x), (4.0, 3.0), (y, 4.0), (3.0, 0.0))), 0.3, 0.5),
    case("grandalf.utils.geometry.getangle", lambda x, y: geometry.getangle((x, 1.0), (2.0, y)), 0.3, 3.5),
]
