struct IDMLCompiledOperator;
struct IDMLPageable;
struct DML_BINDING_TABLE_DESC;
enum DML_FEATURE { DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, DML_FEATURE_FEATURE_LEVELS };
enum DML_EXECUTION_FLAGS { DML_EXECUTION_FLAG_NONE = 0, DML_EXECUTION_FLAG_DISABLE_META_COMMANDS = 2 };

struct IDMLObject : IUnknown {
    virtual HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID guid, UINT* size, void* data) = 0;
    virtual HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID guid, UINT size, const void* data) = 0;
    virtual HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID guid, IUnknown* data) = 0;
    virtual HRESULT STDMETHODCALLTYPE SetName(PCWSTR name) = 0;
};
struct IDMLDevice : IDMLObject {
    virtual HRESULT STDMETHODCALLTYPE CheckFeatureSupport(
        DML_FEATURE feature, UINT query_size, const void* query, UINT support_size, void* support) = 0;
    virtual HRESULT STDMETHODCALLTYPE CreateOperator(const DML_OPERATOR_DESC* desc, REFIID riid, void** object) = 0;
    virtual HRESULT STDMETHODCALLTYPE CompileOperator(
        IDMLOperator* op, DML_EXECUTION_FLAGS flags, REFIID riid, void** object) = 0;
    virtual HRESULT STDMETHODCALLTYPE CreateOperatorInitializer(
        UINT count, IDMLCompiledOperator* const* operators, REFIID riid, void** object) = 0;
    virtual HRESULT STDMETHODCALLTYPE CreateCommandRecorder(REFIID riid, void** object) = 0;
    virtual HRESULT STDMETHODCALLTYPE CreateBindingTable(
        const DML_BINDING_TABLE_DESC* desc, REFIID riid, void** object) = 0;
    virtual HRESULT STDMETHODCALLTYPE Evict(UINT count, IDMLPageable* const* objects) = 0;
    virtual HRESULT STDMETHODCALLTYPE MakeResident(UINT count, IDMLPageable* const* objects) = 0;
    virtual HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() = 0;
    virtual HRESULT STDMETHODCALLTYPE GetParentDevice(REFIID riid, void** object) = 0;
};
#if DML_TARGET_VERSION >= 0x2100
struct IDMLDevice1 : IDMLDevice {
    virtual HRESULT STDMETHODCALLTYPE CompileGraph(
        const DML_GRAPH_DESC* desc, DML_EXECUTION_FLAGS flags, REFIID riid, void** object) = 0;
};
#endif
struct IDMLDeviceChild : IDMLObject {
    virtual HRESULT STDMETHODCALLTYPE GetDevice(REFIID riid, void** object) = 0;
};
struct IDMLPageable : IDMLDeviceChild {};
struct IDMLOperator : IDMLDeviceChild {};
struct IDMLCompiledOperator : IDMLPageable {};
