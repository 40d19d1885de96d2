// Writes the operators and graphs that a program makes with DirectML to a folder, each with what DirectML returned.
// `dmlcy lint FOLDER` says what is wrong with the operators and graphs that DirectML refused.
//
//     #include "dmlcy_layer.h"
//
//     DMLCreateDevice(d3d12, DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device));
//     dmlcy::layer(&device, "descs");    // device: IDMLDevice* or IDMLDevice1*; of a ComPtr: device.GetAddressOf()
//
// From here on, the device is one that hands each call to DirectML's. Without the folder, the environment variable
// DMLCY_LAYER says it; if there is none, the device stays as it is. With DMLCY_LAYER_OFF defined, the function does
// nothing, and nothing else is compiled.
//
// A file has one desc or one graph, and is written once, however many calls have it. Its name has what DirectML
// returned, the call, the operator, and a hash of the text: 80070057-CreateOperator-GEMM-0123456789abcdef.json. An
// operator that was created is written when it is compiled; one that another device made is written as "unknown". If
// files cannot be written, a line on standard error says so once. The program sees the device that it would see without
// the layer, but GetDevice of an object, and other interfaces than IDMLDevice and IDMLDevice1, lead to DirectML's own.

#ifndef DMLCY_LAYER_H
#define DMLCY_LAYER_H

#include <DirectML.h>

namespace dmlcy {

// A choice for the layer: the bytes of the constants of graphs, which are zeros otherwise.
struct LayerOptions {
    bool constants = false;
};

}  // namespace dmlcy

#if defined(DMLCY_LAYER_OFF)

namespace dmlcy {
template <class Device, class... Options>
inline HRESULT layer(Device**, const Options&...) {
    return S_FALSE;
}
}  // namespace dmlcy

#else

#include "dmlcy_dump.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define DMLCY_TRY try
#define DMLCY_CATCH catch (...)
#else
#define DMLCY_TRY if (true)
#define DMLCY_CATCH else
#endif

namespace dmlcy {
namespace detail {

constexpr GUID iid_unknown = {0x00000000, 0x0000, 0x0000, {0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x46}};
constexpr GUID iid_object = {0xc8263aac, 0x9e0c, 0x4a2d, {0x9b, 0x8e, 0x00, 0x75, 0x21, 0xa3, 0x31, 0x7c}};
constexpr GUID iid_device = {0x6dbd6437, 0x96fd, 0x423f, {0xa9, 0x8c, 0xae, 0x5e, 0x7c, 0x2a, 0x57, 0x3f}};
#if DML_TARGET_VERSION >= 0x2100
constexpr GUID iid_device1 = {0xa0884f9a, 0xd2be, 0x4355, {0xaa, 0x5d, 0x59, 0x01, 0x28, 0x1a, 0xd1, 0xd2}};
#endif
// Under this name an operator keeps its desc, as long as it lives.
constexpr GUID desc_of_operator = {0x64d1f0a2, 0x3b6e, 0x4c55, {0x9d, 0x0e, 0x6d, 0x1c, 0x2a, 0x77, 0x5b, 0x10}};

// In place of the desc of an operator that this layer did not make.
constexpr const char* unknown_desc = "{\"type\": \"unknown: another device made this operator\", \"desc\": {}}";

inline bool is(const GUID& left, const GUID& right) { return std::memcmp(&left, &right, sizeof left) == 0; }

// The desc that an operator was made of.
DMLCY_NOINLINE inline std::string desc_of(IDMLOperator* op) {
    UINT size = 0;
    if (op == nullptr || FAILED(op->GetPrivateData(desc_of_operator, &size, nullptr)) || size == 0) return unknown_desc;
    std::string text(size, '\0');
    return FAILED(op->GetPrivateData(desc_of_operator, &size, &text[0])) ? unknown_desc : text;
}

// The name of the operator of a desc in JSON, for the name of its file.
inline std::string operator_of(const DML_OPERATOR_DESC& desc) {
    const char* const name = name_of_operator_type(number_of(desc.Type));
    return name == nullptr ? std::to_string(number_of(desc.Type)) : name + std::strlen("DML_OPERATOR_");
}

inline std::string operator_in(const std::string& text) {
    const std::string before = "DML_OPERATOR_";
    const std::size_t begin = text.find(before);
    const std::size_t end = begin == std::string::npos ? begin : text.find('"', begin);
    return end == std::string::npos ? "unknown" : text.substr(begin + before.size(), end - begin - before.size());
}

inline std::string hexadecimal(std::uint64_t number, int digits) {
    std::string text(static_cast<std::size_t>(digits), '0');
    for (std::size_t place = text.size(); place-- > 0; number >>= 4) text[place] = "0123456789abcdef"[number & 15];
    return text;
}

inline std::uint64_t hash_of(const std::string& text) {
    std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (const char character : text) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3u;
    return hash;
}

// The files of a folder: each is written beside its name first, so that no reader sees half of it.
class Folder {
public:
    explicit Folder(std::filesystem::path where) : folder(std::move(where)) {}

    DMLCY_NOINLINE void write(HRESULT result, const std::string& what, const std::string& text) {
        const std::string name = hexadecimal(static_cast<std::uint32_t>(result), 8) + "-" + what + "-" +
                                 hexadecimal(hash_of(text), 16) + ".json";
        if (!is_new(name)) return;
        std::error_code error;
        std::filesystem::create_directories(folder, error);
        const std::filesystem::path path = folder / name;
        if (std::filesystem::exists(path, error)) return;
        const std::filesystem::path beside = folder / (name + "." + hexadecimal(unique(), 16) + ".part");
        {
            std::ofstream stream(beside, std::ios::binary);
            stream << text << '\n';
            stream.close();
            if (!stream) error = std::make_error_code(std::errc::io_error);
        }
        if (!error) std::filesystem::rename(beside, path, error);
        std::error_code ignored;
        if (!error || std::filesystem::exists(path, ignored)) return;
        std::filesystem::remove(beside, ignored);
        if (!told.exchange(true)) {
            std::fprintf(stderr, "dmlcy: no files can be written to %s\n", folder.string().c_str());
        }
    }

private:
    const std::filesystem::path folder;
    std::atomic<bool> busy{false};  // std::mutex is not in every library of MinGW-w64
    std::set<std::string> written;
    std::atomic<bool> told{false};

    bool is_new(const std::string& name) {
        while (busy.exchange(true, std::memory_order_acquire)) {
        }
        struct Unlock {
            std::atomic<bool>& flag;
            ~Unlock() { flag.store(false, std::memory_order_release); }
        } const unlock{busy};
        return written.insert(name).second;
    }

    // Another number in each process, and for each file.
    std::uint64_t unique() {
        static std::atomic<std::uint64_t> next{0};
        return reinterpret_cast<std::uintptr_t>(&next) * 31 + reinterpret_cast<std::uintptr_t>(this) + next++;
    }
};

#if DML_TARGET_VERSION >= 0x2100
// A graph as JSON; the operators of its nodes by the descs that they were made of.
class GraphText {
public:
    GraphText(const DML_GRAPH_DESC& graph, bool with_constants) : constants(with_constants) {
        {
            Members members(text, "\n  ", 0);
            members.number("InputCount", graph.InputCount);
            members.number("OutputCount", graph.OutputCount);
            members.number("NodeCount", graph.NodeCount);
            each("Nodes", members, graph.Nodes, graph.NodeCount);
            members.number("InputEdgeCount", graph.InputEdgeCount);
            each("InputEdges", members, graph.InputEdges, graph.InputEdgeCount);
            members.number("OutputEdgeCount", graph.OutputEdgeCount);
            each("OutputEdges", members, graph.OutputEdges, graph.OutputEdgeCount);
            members.number("IntermediateEdgeCount", graph.IntermediateEdgeCount);
            each("IntermediateEdges", members, graph.IntermediateEdges, graph.IntermediateEdgeCount);
        }
    }
    std::string text;

private:
    const bool constants;

    template <class Entry>
    void each(const char* name, Members& members, const Entry* entries, UINT count) {
        members.key(name);
        if (entries == nullptr) {
            text += count == 0 ? "[]" : "null";
            return;
        }
        text += '[';
        for (UINT place = 0; place < count && place < most_entries; ++place) {
            text += place == 0 ? "\n    " : ",\n    ";
            append(entries[place]);
        }
        text += ']';
        if (count > most_entries) members.number((std::string(name) + "Capped").c_str(), count);
    }
    DMLCY_NOINLINE void append(const DML_GRAPH_NODE_DESC& node) {
        const int type = number_of(node.Type);
        Members members(text, "", 0);
        members.named("Type", name_of_node_type, type);
        members.key("Desc");
        if (node.Desc == nullptr || name_of_node_type(type) == nullptr) {
            text += "null";
            return;
        }
        Members inner(text, "", 0);
        if (type == DML_GRAPH_NODE_TYPE_OPERATOR) {
            const auto& d = *static_cast<const DML_OPERATOR_GRAPH_NODE_DESC*>(node.Desc);
            named(inner, d.Name);
            inner.key("Operator");
            text += desc_of(d.Operator);
        }
#if DML_TARGET_VERSION >= 0x6200
        if (type == DML_GRAPH_NODE_TYPE_CONSTANT) {
            const auto& d = *static_cast<const DML_CONSTANT_DATA_GRAPH_NODE_DESC*>(node.Desc);
            named(inner, d.Name);
            inner.number("DataSize", std::uint64_t{d.DataSize});
            inner.key("Data");
            append_data(static_cast<const unsigned char*>(d.Data), d.DataSize);
        }
#endif
    }
    DMLCY_NOINLINE void append_data(const unsigned char* data, std::size_t size) {
        Members members(text, "", 0);
        members.text("initialValuesDataType", "UINT8");
        members.key("initialValues");
        if (data == nullptr || !constants) {
            Members zeros(text, "", 0);
            zeros.number("valueCount", std::uint64_t{size});
            zeros.number("value", 0);
            return;
        }
        for (std::size_t place = 0; place < size; ++place) {
            text += place == 0 ? "[" : ", ";
            text += std::to_string(data[place]);
        }
        text += size == 0 ? "[]" : "]";
    }
    DMLCY_NOINLINE void append(const DML_GRAPH_EDGE_DESC& edge) {
        const int type = number_of(edge.Type);
        Members members(text, "", 0);
        if (edge.Desc == nullptr || type < DML_GRAPH_EDGE_TYPE_INPUT || type > DML_GRAPH_EDGE_TYPE_INTERMEDIATE) {
            members.number("Type", type);
            members.text("Desc", nullptr);
        } else if (type == DML_GRAPH_EDGE_TYPE_INPUT) {
            const auto& d = *static_cast<const DML_INPUT_GRAPH_EDGE_DESC*>(edge.Desc);
            members.number("GraphInputIndex", d.GraphInputIndex);
            members.number("ToNodeIndex", d.ToNodeIndex);
            members.number("ToNodeInputIndex", d.ToNodeInputIndex);
            named(members, d.Name);
        } else if (type == DML_GRAPH_EDGE_TYPE_OUTPUT) {
            const auto& d = *static_cast<const DML_OUTPUT_GRAPH_EDGE_DESC*>(edge.Desc);
            members.number("FromNodeIndex", d.FromNodeIndex);
            members.number("FromNodeOutputIndex", d.FromNodeOutputIndex);
            members.number("GraphOutputIndex", d.GraphOutputIndex);
            named(members, d.Name);
        } else {
            const auto& d = *static_cast<const DML_INTERMEDIATE_GRAPH_EDGE_DESC*>(edge.Desc);
            members.number("FromNodeIndex", d.FromNodeIndex);
            members.number("FromNodeOutputIndex", d.FromNodeOutputIndex);
            members.number("ToNodeIndex", d.ToNodeIndex);
            members.number("ToNodeInputIndex", d.ToNodeInputIndex);
            named(members, d.Name);
        }
    }
    DMLCY_NOINLINE static void named(Members& members, const char* name) {
        if (name != nullptr) members.text("Name", name);
    }
    static const char* name_of_node_type(int type) {
        return type == DML_GRAPH_NODE_TYPE_OPERATOR ? "DML_GRAPH_NODE_TYPE_OPERATOR"
               : type == 2                          ? "DML_GRAPH_NODE_TYPE_CONSTANT"
                                                    : nullptr;
    }
};
#endif

#if DML_TARGET_VERSION >= 0x2100
using NewestDevice = IDMLDevice1;
#else
using NewestDevice = IDMLDevice;
#endif

// A device that hands each call to DirectML's, of which it has a reference.
class Layer final : public NewestDevice {
public:
    Layer(IDMLDevice* device, std::filesystem::path folder, const LayerOptions& given)
        : inner(device), files(std::move(folder)), options(given) {
#if DML_TARGET_VERSION >= 0x2100
        void* found = nullptr;
        if (!FAILED(inner->QueryInterface(iid_device1, &found))) newest = static_cast<IDMLDevice1*>(found);
#endif
    }

    HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
        if (object == nullptr) return E_POINTER;
        bool own = is(riid, iid_unknown) || is(riid, iid_object) || is(riid, iid_device);
#if DML_TARGET_VERSION >= 0x2100
        own = own || (newest != nullptr && is(riid, iid_device1));
#endif
        if (!own) return inner->QueryInterface(riid, object);
        AddRef();
        *object = this;
        return S_OK;
    }
    ULONG STDMETHODCALLTYPE AddRef() override { return ++references; }
    ULONG STDMETHODCALLTYPE Release() override {
        const ULONG left = --references;
        if (left == 0) delete this;
        return left;
    }

    HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID guid, UINT* size, void* data) override {
        return inner->GetPrivateData(guid, size, data);
    }
    HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID guid, UINT size, const void* data) override {
        return inner->SetPrivateData(guid, size, data);
    }
    HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID guid, IUnknown* data) override {
        return inner->SetPrivateDataInterface(guid, data);
    }
    HRESULT STDMETHODCALLTYPE SetName(PCWSTR name) override { return inner->SetName(name); }

    HRESULT STDMETHODCALLTYPE CheckFeatureSupport(
        DML_FEATURE feature, UINT query_size, const void* query, UINT support_size, void* support) override {
        return inner->CheckFeatureSupport(feature, query_size, query, support_size, support);
    }
    HRESULT STDMETHODCALLTYPE CreateOperator(const DML_OPERATOR_DESC* desc, REFIID riid, void** object) override {
        const HRESULT result = inner->CreateOperator(desc, riid, object);
        if (desc == nullptr) return result;
        DMLCY_TRY {
            const std::string text = json(*desc);
            if (FAILED(result)) {
                files.write(result, "CreateOperator-" + operator_of(*desc), text);
            } else if (object != nullptr && *object != nullptr) {
                remember(static_cast<IUnknown*>(*object), text);
            }
        } DMLCY_CATCH {}
        return result;
    }
    HRESULT STDMETHODCALLTYPE CompileOperator(
        IDMLOperator* op, DML_EXECUTION_FLAGS flags, REFIID riid, void** object) override {
        const HRESULT result = inner->CompileOperator(op, flags, riid, object);
        DMLCY_TRY {
            const std::string text = op == nullptr ? "" : desc_of(op);
            if (op != nullptr) files.write(result, "CompileOperator-" + operator_in(text), text);
        } DMLCY_CATCH {}
        return result;
    }
#if DML_TARGET_VERSION >= 0x2100
    HRESULT STDMETHODCALLTYPE CompileGraph(
        const DML_GRAPH_DESC* desc, DML_EXECUTION_FLAGS flags, REFIID riid, void** object) override {
        if (newest == nullptr) return E_NOINTERFACE;
        const HRESULT result = newest->CompileGraph(desc, flags, riid, object);
        if (desc == nullptr) return result;
        DMLCY_TRY {
            files.write(result, "CompileGraph", GraphText(*desc, options.constants).text);
        } DMLCY_CATCH {}
        return result;
    }
#endif
    HRESULT STDMETHODCALLTYPE CreateOperatorInitializer(
        UINT count, IDMLCompiledOperator* const* operators, REFIID riid, void** object) override {
        return inner->CreateOperatorInitializer(count, operators, riid, object);
    }
    HRESULT STDMETHODCALLTYPE CreateCommandRecorder(REFIID riid, void** object) override {
        return inner->CreateCommandRecorder(riid, object);
    }
    HRESULT STDMETHODCALLTYPE CreateBindingTable(
        const DML_BINDING_TABLE_DESC* desc, REFIID riid, void** object) override {
        return inner->CreateBindingTable(desc, riid, object);
    }
    HRESULT STDMETHODCALLTYPE Evict(UINT count, IDMLPageable* const* objects) override {
        return inner->Evict(count, objects);
    }
    HRESULT STDMETHODCALLTYPE MakeResident(UINT count, IDMLPageable* const* objects) override {
        return inner->MakeResident(count, objects);
    }
    HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() override { return inner->GetDeviceRemovedReason(); }
    HRESULT STDMETHODCALLTYPE GetParentDevice(REFIID riid, void** object) override {
        return inner->GetParentDevice(riid, object);
    }

private:
    ~Layer() {
#if DML_TARGET_VERSION >= 0x2100
        if (newest != nullptr) newest->Release();
#endif
        inner->Release();
    }

    // The interface that was asked for may be another one than that of objects.
    static void remember(IUnknown* made, const std::string& text) {
        void* found = nullptr;
        if (FAILED(made->QueryInterface(iid_object, &found)) || found == nullptr) return;
        auto* const object = static_cast<IDMLObject*>(found);
        object->SetPrivateData(desc_of_operator, static_cast<UINT>(text.size()), text.data());
        object->Release();
    }

    std::atomic<ULONG> references{1};
    IDMLDevice* const inner;
#if DML_TARGET_VERSION >= 0x2100
    IDMLDevice1* newest = nullptr;
#endif
    Folder files;
    const LayerOptions options;
};

#if defined(_MSC_VER)
#pragma warning(push)
#pragma warning(disable : 4996)  // getenv, which is safe: the text is copied at once
#endif
inline std::filesystem::path folder_of_environment() {
    const char* const folder = std::getenv("DMLCY_LAYER");
    return folder == nullptr ? "" : folder;
}
#if defined(_MSC_VER)
#pragma warning(pop)
#endif

}  // namespace detail

// Puts the layer in front of a device, whose reference it takes. Without a folder the device stays as it is (S_FALSE).
template <class Device>
HRESULT layer(Device** device, const std::filesystem::path& folder, const LayerOptions& options = {}) {
    if (device == nullptr || *device == nullptr) return E_POINTER;
    if (folder.empty()) return S_FALSE;
    DMLCY_TRY {
        *device = new detail::Layer(*device, folder, options);
    } DMLCY_CATCH {
        return E_OUTOFMEMORY;
    }
    return S_OK;
}

template <class Device>
HRESULT layer(Device** device, const LayerOptions& options = {}) {
    DMLCY_TRY {
        return layer(device, detail::folder_of_environment(), options);
    } DMLCY_CATCH {
        return E_OUTOFMEMORY;
    }
}

}  // namespace dmlcy

#undef DMLCY_TRY
#undef DMLCY_CATCH

#endif  // DMLCY_LAYER_OFF
#endif  // DMLCY_LAYER_H
