"""PyDirectML's module on the CPU of any machine, name for name: its older API and its newer one.

``python -m dmlcy.directml SCRIPT`` runs a program that says ``import directml`` or ``import pydirectml`` unchanged.
"""

from dmlcy._frontends.directml.buffers import Buffer
from dmlcy._frontends.directml.device import Binding, Device, TensorData
from dmlcy._frontends.directml.expressions import Expression, GraphBuilder, Model, input_tensor
from dmlcy._frontends.directml.graph import Graph
from dmlcy._frontends.directml.operator import CompiledOperator
from dmlcy._frontends.directml.tensors import Size2D, TensorDesc, TensorPolicy
from dmlcy._frontends.directml.views import broadcast, reinterpret
from dmlcy._generated.directml import enums as _enums
from dmlcy._generated.directml import functions as _functions
from dmlcy._generated.directml.enums import *  # noqa: F403
from dmlcy._generated.directml.functions import *  # noqa: F403
from dmlcy._version import __version__

__all__ = [
    "Binding", "Buffer", "CompiledOperator", "Device", "Expression", "Graph", "GraphBuilder", "Model", "Size2D",
    "TensorData", "TensorDesc", "TensorPolicy", "__version__", "broadcast", "input_tensor", "reinterpret",
]  # fmt: skip
__all__ += _enums.__all__
__all__ += _functions.__all__

if __name__ == "__main__":
    import sys

    from dmlcy import directml
    from dmlcy._frontends.directml.script import main

    sys.exit(main(sys.argv[1:], directml))
