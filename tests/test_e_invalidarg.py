"""docs/e-invalidarg.md: the desc in C++ compiles, and has the values of the desc in Python."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from shown_pages import DOCS, blocks, run_session

from dmlcy import specs

PAGE = DOCS / "e-invalidarg.md"
TYPES = {"tensor": "const DML_TENSOR_DESC*", "uint": "UINT", "uint_array": "const UINT*", "bool": "BOOL"}
HEADER = """
#include <cstdint>
#include <cstdio>
#include <initializer_list>
typedef uint32_t UINT;
typedef uint64_t UINT64;
typedef int BOOL;
typedef int32_t HRESULT;
const BOOL FALSE = 0;
enum DML_TENSOR_DATA_TYPE { DML_TENSOR_DATA_TYPE_FLOAT32 = 1 };
enum DML_TENSOR_FLAGS { DML_TENSOR_FLAG_NONE };
enum DML_TENSOR_TYPE { DML_TENSOR_TYPE_INVALID, DML_TENSOR_TYPE_BUFFER };
struct DML_BUFFER_TENSOR_DESC {
    DML_TENSOR_DATA_TYPE DataType; DML_TENSOR_FLAGS Flags; UINT DimensionCount; const UINT* Sizes; const UINT* Strides;
    UINT64 TotalTensorSizeInBytes; UINT GuaranteedBaseOffsetAlignment;
};
struct DML_TENSOR_DESC { DML_TENSOR_TYPE Type; const void* Desc; };
"""
PRINTED = """
void print(UINT count, const UINT* values) { while (count--) std::printf("%u ", *values++); std::puts(""); }
void print(const DML_TENSOR_DESC* tensor) {
    const DML_BUFFER_TENSOR_DESC* desc = (const DML_BUFFER_TENSOR_DESC*)tensor->Desc;
    print(desc->DimensionCount, desc->Sizes);
    std::printf("%u\\n", (UINT)desc->TotalTensorSizeInBytes);
}
struct Device {
    HRESULT CreateOperator(const DML_OPERATOR_DESC* desc, int) {
        const DML_AVERAGE_POOLING_OPERATOR_DESC* d = (const DML_AVERAGE_POOLING_OPERATOR_DESC*)desc->Desc;
        print(d->InputTensor);
        print(d->OutputTensor);
        for (const UINT* values : {d->Strides, d->WindowSize, d->StartPadding, d->EndPadding})
            print(d->DimensionCount, values);
        std::printf("%d\\n", d->IncludePadding);
        return (HRESULT)0x80070057;
    }
};
#define IID_PPV_ARGS(place) 0
int main() {
    Device made, *device = &made;
"""


def structs(name: str) -> str:
    """The struct of an operator from the catalogue, and the struct that holds it."""
    operator = specs.catalogue()[name]
    fields = " ".join(f"{TYPES[field['type']]} {field['name']};" for field in operator["fields"])
    return (
        f"struct {operator['struct']} {{ {fields} }};\n"
        f"enum DML_OPERATOR_TYPE {{ DML_OPERATOR_{name} = {operator['value']} }};\n"
        "struct DML_OPERATOR_DESC { DML_OPERATOR_TYPE Type; const void* Desc; };\n"
    )


def test_the_desc_in_cpp_is_the_one_in_python(tmp_path: Path) -> None:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler: c++ is not found")
    names: dict[str, Any] = {}
    for language, code, _ in blocks(PAGE):
        if language == "pycon":
            run_session(code, PAGE.name, names)
    desc = names["desc"]
    cpp = next(code for language, code, _ in blocks(PAGE) if language == "cpp")
    text = f"{HEADER}{structs(desc.operator.name)}{PRINTED}{cpp}return result != (HRESULT)0x80070057;\n}}\n"
    (tmp_path / "main.cpp").write_text(text, encoding="utf-8")
    subprocess.run([compiler, "-std=c++11", "-o", "main", "main.cpp"], cwd=tmp_path, check=True)
    printed = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    tensors = [line for tensor in (desc.input, desc.output) for line in (tensor.sizes, [tensor_bytes(tensor)])]
    arrays = [desc.strides, desc.window_size, desc.start_padding, desc.end_padding, [desc.include_padding]]
    assert [[int(word) for word in line.split()] for line in printed.splitlines()] == [*map(list, tensors + arrays)]


def tensor_bytes(tensor: Any) -> int:
    """The size in bytes that DirectML asks for: that of a packed tensor of FLOAT32."""
    return 4 * int(tensor.element_count)
