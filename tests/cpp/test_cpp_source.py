"""Descs that dmlcy prints as C++: the text compiles, and the desc that it makes is the one that was printed."""

from __future__ import annotations

import json
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from compilers import Programs
from depth import deep
from example_descs import desc_of, desc_of_example
from images import rounded
from planned import planned

import dmlcy as dml
from codegen.field_types import type_of
from codegen.model import CatalogueField, CatalogueOperator
from dmlcy._cli import main
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.tables import OPERATORS
from dmlcy._show.cpp import directmlx, fragment, program

ARRAYS = {"uint_array": "uint32_t", "int_array": "int32_t", "float_array": "float", "tensor_array": "Expression"}
OTHERS = {"operator_desc": "FusedActivation", "bool": "bool", "float": "float", "uint": "uint32_t"}
STANDIN = """
#include <optional>
#include <vector>
namespace dml {
struct Expression {};
struct Graph {};
using Dimensions = std::vector<uint32_t>;
template <class T> using Optional = std::optional<T>;
constexpr std::nullopt_t NullOpt = std::nullopt;
template <class T> struct Span { Span() {} template <std::size_t N> Span(T (&)[N]) {} };
struct TensorDesc { TensorDesc(DML_TENSOR_DATA_TYPE, Dimensions) {} };
struct FusedActivation {
    explicit FusedActivation(DML_OPERATOR_TYPE, float = 0, float = 0) {}
    static FusedActivation None() { return FusedActivation(DML_OPERATOR_ELEMENT_WISE_IDENTITY); }
};
inline Expression InputTensor(Graph&, uint32_t, TensorDesc) { return {}; }
"""
"""The parts of DirectMLX that its functions need."""


def run(*arguments: object) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main([*map(str, arguments)])
    return status, out.getvalue(), err.getvalue()


def printed() -> list[OperatorDesc]:
    """Descs of all kinds: with fused activations, strides, numbers of each data type, empty arrays, long ones."""
    relu = dml.TensorDesc("FLOAT32", (2, 3), strides=(0, 1), flags="OWNED_BY_DML", guaranteed_base_offset_alignment=16)
    output = dml.TensorDesc("FLOAT32", (2, 3), total_tensor_size_in_bytes=2**64 - 4)
    fill: dict[Any, float] = {
        dtype: value for dtype, value in (("FLOAT16", 1.5), ("INT64", -(2**63)), ("UINT8", 255), ("FLOAT64", 0.1))
    }
    numbers = [1.5, -0.0, 1e-45, 3.4028234663852886e38, 0.1, 16777216.0]
    return [
        dml.desc.ActivationRelu(input=relu, output=output),
        desc_of(OPERATORS["GEMM"], fused_activation=dml.desc.ActivationElu(alpha=0.25)),
        desc_of(OPERATORS["LSTM"]),
        desc_of(OPERATORS["ELEMENT_WISE_ABS"], scale_bias=(2.0, -0.5)),
        *(desc_of(OPERATORS["ACTIVATION_ELU"], alpha=number) for number in numbers),
        *(
            dml.desc.FillValueConstant(output=dml.TensorDesc(dtype, (4,)), value_data_type=dtype, value=value)
            for dtype, value in fill.items()
        ),
    ]


def compiled(programs: Programs, folder: Path, descs: list[OperatorDesc]) -> list[str]:
    """The JSON of descs that a program prints, each in a scope of its own."""
    scopes = "".join(
        f'{{\n{fragment(desc)}std::puts(dmlcy::json(desc).c_str());\nstd::puts("---");\n}}\n' for desc in descs
    )
    source = folder / "printed.cpp"
    source.write_text(f'#include "dmlcy_dump.h"\nint main() {{\n{scopes}}}\n', encoding="utf-8")
    done = subprocess.run([programs.built(source)], capture_output=True, text=True, check=True)
    return done.stdout.split("---\n")[:-1]


@pytest.mark.parametrize("every", [pytest.param(12, id="some"), pytest.param(1, id="all", marks=deep)])
def test_printed_descs_are_the_same(every: int, programs: Programs, tmp_path: Path) -> None:
    examples = [desc_of_example(one, example) for one in OPERATORS.values() for example in one.examples]
    descs = [*printed(), *examples[::every]]
    for desc, text in zip(descs, compiled(programs, tmp_path, descs), strict=True):
        assert not dml.check(desc), desc
        assert rounded(json.loads(text)) == rounded(json.loads(json.dumps(desc.to_dict()))), fragment(desc)


def parameter(field: CatalogueField, part: str) -> str:
    """The type of a parameter in DirectMLX."""
    kind, _, enum = field.type.partition(":")
    if part:
        return {"DataType": "DML_TENSOR_DATA_TYPE", "Sizes": "Dimensions"}[part]
    if kind in ARRAYS:
        return f"Span<const {ARRAYS[kind]}>"
    if kind == "tensor":
        return "Optional<Expression>" if field.optional else "Expression"
    if kind == "scale_bias":
        return "const Optional<DML_SCALE_BIAS>&"
    return enum or OTHERS.get(kind) or type_of(field).directml


def declaration(entry: CatalogueOperator) -> str:
    """A function of DirectMLX, as the catalogue has it."""
    assert entry.directmlx is not None
    name, _, rest = entry.directmlx.removesuffix(")").partition("(")
    fields = {field.name: field for field in entry.fields}
    types = [parameter(fields[member], part) for member, _, part in (one.partition(".") for one in rest.split(", "))]
    return f"inline Expression {name}({', '.join(types)}) {{ return {{}}; }}\n"


def test_calls_of_directmlx_compile(programs: Programs, tmp_path: Path) -> None:
    """With functions that take what those of DirectMLX take, by the facts."""
    entries = [entry for entry in planned().facts.catalogue.values() if entry.directmlx is not None]
    assert len(entries) > 100
    declarations = "".join(map(declaration, entries))
    descs = [desc_of(OPERATORS[entry.name]) for entry in entries] + printed()[1:4]
    calls = "".join(f"{{\n{directmlx(desc)}(void)result;\n}}\n" for desc in descs if directmlx(desc))
    source = tmp_path / "calls.cpp"
    text = (
        f"#include <DirectML.h>\n{STANDIN}{declarations}}}\nint main() {{\ndml::Graph graph;\n(void)graph;\n{calls}}}\n"
    )
    source.write_text(text, encoding="utf-8")
    programs.compile(source, "-fsyntax-only")


def test_the_order_of_parameters() -> None:
    """Parameters have another order than the members of the struct, or are fewer."""
    found = {name: directmlx(desc_of(OPERATORS[name])) for name in ("GEMM", "CAST", "MULTIHEAD_ATTENTION", "TOP_K1")}
    assert found["MULTIHEAD_ATTENTION"] is None
    assert found["CAST"] is not None and "dml::Cast(inputTensor, DML_TENSOR_DATA_TYPE_" in found["CAST"]
    assert found["GEMM"] is not None and "dml::FusedActivation::None());" in found["GEMM"]
    assert found["TOP_K1"] is not None and "dml::TopK(inputTensor, " in found["TOP_K1"]


def test_the_commands(tmp_path: Path) -> None:
    status, text, said = run("example", "GEMM", "--cpp")
    assert (status, said) == (0, "") and text.startswith("const UINT aTensorSizes[] = {")
    assert "// With DirectMLX, where graph is a dml::Graph:\n//    const auto aTensor" in text
    desc = desc_of(OPERATORS["FOLD"])
    path = tmp_path / "desc.json"
    path.write_text(json.dumps(desc.to_dict()), encoding="utf-8")
    assert run("export", path, "--cpp") == (0, program(desc), "")
    graph = tmp_path / "graph.json"
    graph.write_text('{"Nodes": [], "InputCount": 0, "OutputCount": 0}', encoding="utf-8")
    status, text, said = run("export", graph, "--cpp")
    assert (status, text) == (2, "") and "is a graph" in said
    source = tmp_path / "program.cpp"
    source.write_text("#include <DirectML.h>\n", encoding="utf-8")
    status, text, _ = run("lint", source)
    assert status == 2 and "`dmlcy cpp-header` prints a header for it, docs/cpp.md says how" in text


def test_the_headers_are_printed_and_written(tmp_path: Path) -> None:
    dump, layer = run("cpp-header")[1], run("cpp-header", "--layer")[1]
    assert "inline std::string json(const DML_OPERATOR_DESC& desc)" in dump and '#include "dmlcy_dump.h"' in layer
    status, text, _ = run("cpp-header", "--output", tmp_path / "include")
    assert status == 0 and text.count("Header written to ") == 2
    folder = Path(run("cpp-header", "--path")[1].strip())
    for name, content in (("dmlcy_dump.h", dump), ("dmlcy_layer.h", layer)):
        assert (tmp_path / "include" / name).read_text(encoding="utf-8") == content
        assert (folder / name).read_text(encoding="utf-8") == content
    (tmp_path / "file").write_text("", encoding="utf-8")
    status, _, said = run("cpp-header", "--output", tmp_path / "file")
    assert status == 2 and said.startswith("dmlcy cpp-header: ")
