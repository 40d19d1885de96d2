"""Graphs of operators: built from Python or read from files, checked, planned and run."""

from dmlcy._desc.whole import Optimization
from dmlcy._frontends.graphs.public import from_bytes, from_json, load, save, to_bytes, to_json
from dmlcy._graph.build import Graph
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.levels import LevelTable, NodeLevel
from dmlcy._graph.minimum import NodeReason
from dmlcy._graph.model import Constant, Edge, End, Node, Origin, Port
from dmlcy._graph.optimizations import Optimizations
from dmlcy._graph.plan import Plan, Step
from dmlcy._graph.profile import LeftOut, OperatorProfile, Profile, StepProfile
from dmlcy._graph.run import CompiledGraph
from dmlcy._graph.values import Value
from dmlcy._graph.violations import GraphViolation

__all__ = [
    "CompiledGraph", "Constant", "Edge", "End", "Graph", "GraphDesc", "GraphViolation", "LeftOut", "LevelTable", "Node",
    "NodeLevel", "NodeReason", "OperatorProfile", "Optimization", "Optimizations", "Origin", "Plan", "Port", "Profile",
    "Step", "StepProfile", "Value", "from_bytes", "from_json", "load", "save", "to_bytes", "to_json",
]  # fmt: skip
