"""The files that mypy checks by their whole names: several have one name, and commands import others by whole names."""

# ruff: noqa: F401
import tests.benchmarks.conftest
import tests.cli.conftest
import tests.codegen.conftest
import tests.conformance.conftest
import tests.constructs.conftest
import tests.cpp.conftest
import tests.frontends.conftest
import tests.fuzz.__main__
import tests.graph.conftest
import tests.machines.arm64
import tests.machines.mingw
import tests.machines.musl
import tests.machines.portable
import tests.model.conftest
import tests.onnx_backend.__main__
import tests.onnx_files.__main__
import tests.package.conftest
import tests.reliability.mutants
import tests.reliability.sanitized
import tests.runtime.conftest
import tests.site.conftest
