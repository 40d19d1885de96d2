// Uses the layer of dmlcy in front of a device that this file makes: it refuses AVERAGE_POOLING, and graphs without edges.
#include <DirectML.h>

#include "dmlcy_layer.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition);         \
            std::exit(1);                                                       \
        }                                                                       \
    } while (false)

static bool same(REFGUID left, REFGUID right) { return std::memcmp(&left, &right, sizeof left) == 0; }
static std::atomic<int> alive{0};

// What all objects of DirectML have: a count of references, and private data.
template <class Interface>
class Object : public Interface {
public:
    Object() { ++alive; }
    virtual ~Object() { --alive; }
    ULONG STDMETHODCALLTYPE AddRef() override { return ++references; }
    ULONG STDMETHODCALLTYPE Release() override {
        const ULONG left = --references;
        if (left == 0) delete this;
        return left;
    }
    HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID guid, UINT* size, void* data) override {
        const std::lock_guard<std::mutex> lock(mutex);
        const auto found = kept.find(text_of(guid));
        if (found == kept.end()) return static_cast<HRESULT>(0x887A0002);
        const UINT have = *size;
        *size = static_cast<UINT>(found->second.size());
        if (data != nullptr && have >= found->second.size()) std::memcpy(data, found->second.data(), *size);
        return S_OK;
    }
    HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID guid, UINT size, const void* data) override {
        const std::lock_guard<std::mutex> lock(mutex);
        kept[text_of(guid)] = std::string(static_cast<const char*>(data), size);
        return S_OK;
    }
    HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID, IUnknown*) override { return S_OK; }
    HRESULT STDMETHODCALLTYPE SetName(PCWSTR) override { return S_OK; }

protected:
    HRESULT give(REFIID riid, void** object, std::initializer_list<const GUID*> known) {
        for (const GUID* one : known) {
            if (same(riid, *one)) {
                AddRef();
                *object = this;
                return S_OK;
            }
        }
        *object = nullptr;
        return E_NOINTERFACE;
    }

private:
    std::atomic<ULONG> references{1};
    std::mutex mutex;
    std::map<std::string, std::string> kept;
    static std::string text_of(REFGUID guid) { return {reinterpret_cast<const char*>(&guid), sizeof guid}; }
};

struct Operator final : Object<IDMLOperator> {
    HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
        return give(riid, object, {&FACT_IID_IUnknown, &FACT_IID_IDMLObject, &FACT_IID_IDMLOperator});
    }
    HRESULT STDMETHODCALLTYPE GetDevice(REFIID, void**) override { return E_NOINTERFACE; }
};

struct Device final : Object<IDMLDevice1> {
    explicit Device(bool is_newest) : newest(is_newest) {}
    const bool newest;
    HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
        const GUID* const last = newest ? &FACT_IID_IDMLDevice1 : &FACT_IID_IDMLDevice;
        const auto known = {&FACT_IID_IUnknown, &FACT_IID_IDMLObject, &FACT_IID_IDMLDevice, last,
                            &FACT_IID_IDMLDebugDevice};
        return give(riid, object, known);
    }
    HRESULT STDMETHODCALLTYPE CheckFeatureSupport(DML_FEATURE, UINT, const void*, UINT size, void*) override {
        return static_cast<HRESULT>(size);
    }
    HRESULT STDMETHODCALLTYPE CreateOperator(const DML_OPERATOR_DESC* desc, REFIID, void** object) override {
        if (desc == nullptr || desc->Type == DML_OPERATOR_AVERAGE_POOLING) return E_INVALIDARG;
        if (object == nullptr) return S_FALSE;
        *object = static_cast<IDMLOperator*>(new Operator);
        return S_OK;
    }
    HRESULT STDMETHODCALLTYPE CompileOperator(IDMLOperator*, DML_EXECUTION_FLAGS flags, REFIID, void**) override {
        return flags == DML_EXECUTION_FLAG_NONE ? S_OK : E_OUTOFMEMORY;
    }
    HRESULT STDMETHODCALLTYPE CompileGraph(
        const DML_GRAPH_DESC* desc, DML_EXECUTION_FLAGS, REFIID, void**) override {
        return desc == nullptr || desc->InputEdgeCount == 0 ? E_INVALIDARG : S_OK;
    }
    HRESULT STDMETHODCALLTYPE CreateOperatorInitializer(
        UINT count, IDMLCompiledOperator* const*, REFIID, void**) override {
        return static_cast<HRESULT>(count);
    }
    HRESULT STDMETHODCALLTYPE CreateCommandRecorder(REFIID, void**) override { return 11; }
    HRESULT STDMETHODCALLTYPE CreateBindingTable(const DML_BINDING_TABLE_DESC*, REFIID, void**) override { return 12; }
    HRESULT STDMETHODCALLTYPE Evict(UINT count, IDMLPageable* const*) override { return static_cast<HRESULT>(count); }
    HRESULT STDMETHODCALLTYPE MakeResident(UINT, IDMLPageable* const*) override { return 14; }
    HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() override { return 15; }
    HRESULT STDMETHODCALLTYPE GetParentDevice(REFIID, void**) override { return 16; }
};

struct Pooling {
    UINT input_sizes[4] = {1, 1, 8, 8}, output_sizes[4] = {1, 1, 3, 1};
    UINT strides[2] = {2, 2}, window[2] = {3, 9}, padding[2] = {0, 0};
    DML_BUFFER_TENSOR_DESC input = {
        DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, input_sizes, nullptr, 256, 0};
    DML_BUFFER_TENSOR_DESC output = {
        DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, output_sizes, nullptr, 12, 0};
    DML_TENSOR_DESC input_tensor = {DML_TENSOR_TYPE_BUFFER, &input};
    DML_TENSOR_DESC output_tensor = {DML_TENSOR_TYPE_BUFFER, &output};
    DML_AVERAGE_POOLING_OPERATOR_DESC pooling = {
        &input_tensor, &output_tensor, 2, strides, window, padding, padding, FALSE};
    DML_OPERATOR_DESC desc = {DML_OPERATOR_AVERAGE_POOLING, &pooling};
};

struct Relu {
    UINT sizes[4] = {1, 1, 1, 4};
    DML_BUFFER_TENSOR_DESC buffer = {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, sizes, nullptr, 16, 0};
    DML_TENSOR_DESC tensor = {DML_TENSOR_TYPE_BUFFER, &buffer};
    DML_ACTIVATION_RELU_OPERATOR_DESC relu = {&tensor, &tensor};
    DML_ELEMENT_WISE_ADD_OPERATOR_DESC add = {&tensor, &tensor, &tensor};
    DML_OPERATOR_DESC desc = {DML_OPERATOR_ACTIVATION_RELU, &relu};
    DML_OPERATOR_DESC sum = {DML_OPERATOR_ELEMENT_WISE_ADD, &add};
};

static IDMLOperator* made(IDMLDevice* device, const DML_OPERATOR_DESC& desc) {
    void* object = nullptr;
    CHECK(device->CreateOperator(&desc, FACT_IID_IDMLOperator, &object) == S_OK);
    return static_cast<IDMLOperator*>(object);
}

// input -> relu -> add <- constant, with a name that JSON must escape.
static void compile_graph(IDMLDevice1* device, IDMLOperator* relu, IDMLOperator* add, bool joined) {
    const float data[4] = {1, 2, 3, 4};
    const DML_OPERATOR_GRAPH_NODE_DESC first = {relu, "a \"name\" \xff"}, second = {add, nullptr};
    const DML_CONSTANT_DATA_GRAPH_NODE_DESC constant = {data, sizeof data, "weights"};
    const DML_GRAPH_NODE_DESC nodes[] = {{DML_GRAPH_NODE_TYPE_OPERATOR, &first},
                                         {DML_GRAPH_NODE_TYPE_OPERATOR, &second},
                                         {DML_GRAPH_NODE_TYPE_CONSTANT, &constant}};
    const DML_INPUT_GRAPH_EDGE_DESC begin = {0, 0, 0, "x"};
    const DML_INTERMEDIATE_GRAPH_EDGE_DESC between = {0, 0, 1, 0, nullptr}, given = {2, 0, 1, 1, nullptr};
    const DML_OUTPUT_GRAPH_EDGE_DESC end = {1, 0, 0, nullptr};
    const DML_GRAPH_EDGE_DESC inputs[] = {{DML_GRAPH_EDGE_TYPE_INPUT, &begin}};
    const DML_GRAPH_EDGE_DESC outputs[] = {{DML_GRAPH_EDGE_TYPE_OUTPUT, &end}};
    const DML_GRAPH_EDGE_DESC inner[] = {{DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &between},
                                         {DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &given}};
    const UINT count = joined ? 1 : 0;
    const DML_GRAPH_DESC graph = {1, 1, 3, nodes, count, joined ? inputs : nullptr, 1, outputs, 2, inner};
    CHECK(device->CompileGraph(&graph, DML_EXECUTION_FLAG_NONE, FACT_IID_IDMLCompiledOperator, nullptr) ==
          (joined ? S_OK : E_INVALIDARG));
}

static void calls(IDMLDevice1* device) {
    Pooling pooling;
    Relu relu;
    void* object = nullptr;
    CHECK(device->CreateOperator(&pooling.desc, FACT_IID_IDMLOperator, &object) == E_INVALIDARG);
    CHECK(device->CreateOperator(&pooling.desc, FACT_IID_IDMLOperator, &object) == E_INVALIDARG);
    CHECK(device->CreateOperator(nullptr, FACT_IID_IDMLOperator, &object) == E_INVALIDARG);
    CHECK(device->CreateOperator(&relu.desc, FACT_IID_IDMLOperator, nullptr) == S_FALSE);
    IDMLOperator* const first = made(device, relu.desc);
    IDMLOperator* const second = made(device, relu.sum);
    CHECK(device->CompileOperator(first, DML_EXECUTION_FLAG_NONE, FACT_IID_IDMLCompiledOperator, &object) == S_OK);
    CHECK(device->CompileOperator(
              first, DML_EXECUTION_FLAG_DISABLE_META_COMMANDS, FACT_IID_IDMLCompiledOperator, &object) ==
          E_OUTOFMEMORY);
    compile_graph(device, first, second, true);
    compile_graph(device, first, second, false);
    CHECK(device->CompileGraph(nullptr, DML_EXECUTION_FLAG_NONE, FACT_IID_IDMLCompiledOperator, nullptr) ==
          E_INVALIDARG);
    first->Release();
    second->Release();
}

static void others(IDMLDevice1* device) {
    UINT size = 3;
    CHECK(device->SetPrivateData(FACT_IID_IDMLObject, 3, "abc") == S_OK);
    char data[3];
    CHECK(device->GetPrivateData(FACT_IID_IDMLObject, &size, data) == S_OK && size == 3 && data[2] == 'c');
    CHECK(device->SetPrivateDataInterface(FACT_IID_IDMLObject, nullptr) == S_OK && device->SetName(L"name") == S_OK);
    CHECK(device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, 0, nullptr, 10, nullptr) == 10);
    CHECK(device->CreateOperatorInitializer(13, nullptr, FACT_IID_IUnknown, nullptr) == 13);
    CHECK(device->CreateCommandRecorder(FACT_IID_IUnknown, nullptr) == 11);
    CHECK(device->CreateBindingTable(nullptr, FACT_IID_IUnknown, nullptr) == 12);
    CHECK(device->Evict(17, nullptr) == 17 && device->MakeResident(0, nullptr) == 14);
    CHECK(device->GetDeviceRemovedReason() == 15 && device->GetParentDevice(FACT_IID_IUnknown, nullptr) == 16);
}

static void interfaces(IDMLDevice1* device, IDMLDevice1* inner) {
    IUnknown* const self = device;
    for (const GUID* one : {&FACT_IID_IUnknown, &FACT_IID_IDMLObject, &FACT_IID_IDMLDevice, &FACT_IID_IDMLDevice1}) {
        void* object = nullptr;
        CHECK(device->QueryInterface(*one, &object) == S_OK && object == self);
        CHECK(device->Release() == 1);
    }
    void* object = nullptr;
    CHECK(device->QueryInterface(FACT_IID_IDMLDebugDevice, &object) == S_OK && object == inner);
    inner->Release();
    CHECK(device->QueryInterface(FACT_IID_IDMLBindingTable, &object) == E_NOINTERFACE && object == nullptr);
    CHECK(device->QueryInterface(FACT_IID_IUnknown, nullptr) == E_POINTER);
    CHECK(device->AddRef() == 2 && device->Release() == 1);
}

int main(int count, char** arguments) {
    const std::string way = count > 1 ? arguments[1] : "", folder = count > 2 ? arguments[2] : "";
    auto* const inner = new Device(way != "old");
    IDMLDevice1* device = inner;
    dmlcy::LayerOptions options;
    options.constants = way == "constants";
#if defined(DMLCY_LAYER_OFF)
    CHECK(dmlcy::layer(&device, folder, options) == S_FALSE && device == inner);
    CHECK(dmlcy::layer(&device) == S_FALSE);
#else
    if (way == "variable") {
        const HRESULT wanted = std::getenv("DMLCY_LAYER") == nullptr ? S_FALSE : S_OK;
        CHECK(dmlcy::layer(&device) == wanted && (device == inner) == (wanted == S_FALSE));
    } else {
        CHECK(dmlcy::layer(&device, folder, options) == S_OK && device != inner);
    }
    CHECK(dmlcy::layer(static_cast<IDMLDevice**>(nullptr), folder) == E_POINTER);
#endif
    if (way == "old") {
        void* object = nullptr;
        CHECK(device->QueryInterface(FACT_IID_IDMLDevice1, &object) == E_NOINTERFACE);
    } else if (way == "threads") {
        std::vector<std::thread> threads;
        for (int one = 0; one < 4; ++one) {
            threads.emplace_back([device] {
                for (int again = 0; again < 20; ++again) calls(device);
            });
        }
        for (std::thread& one : threads) one.join();
    } else if (way == "elsewhere") {
        Relu relu;
        IDMLOperator* const op = made(inner, relu.desc);
        CHECK(device->CompileOperator(op, DML_EXECUTION_FLAG_NONE, FACT_IID_IDMLCompiledOperator, nullptr) == S_OK);
        compile_graph(device, op, nullptr, true);
        op->Release();
    } else {
        calls(device);
        others(device);
        if (device != inner && way != "variable") interfaces(device, inner);
    }
    CHECK(device->Release() == 0);
    CHECK(alive == 0);
}
