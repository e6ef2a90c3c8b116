"""A table as a picture: Mermaid, DOT, SVG where Graphviz is present; a run drawn over its machine; the drift check."""

from .dot import dot
from .drawn import Pair, Taken, taken
from .drift import diagrams_of, drift
from .edges import Edge, Line, edges
from .mermaid import mermaid
from .svg import GraphvizError, svg

__all__ = [
    "Edge",
    "GraphvizError",
    "Line",
    "Pair",
    "Taken",
    "diagrams_of",
    "dot",
    "drift",
    "edges",
    "mermaid",
    "svg",
    "taken",
]
