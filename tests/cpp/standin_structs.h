union DML_SCALAR_UNION {
    BYTE Bytes[8];
    INT8 Int8;
    UINT8 UInt8;
    INT16 Int16;
    UINT16 UInt16;
    INT32 Int32;
    UINT32 UInt32;
    INT64 Int64;
    UINT64 UInt64;
    FLOAT Float32;
    DOUBLE Float64;
};

struct DML_SCALE_BIAS { FLOAT Scale, Bias; };
struct DML_SIZE_2D { UINT Width, Height; };
struct DML_TENSOR_DESC { DML_TENSOR_TYPE Type; const void* Desc; };
struct DML_OPERATOR_DESC { DML_OPERATOR_TYPE Type; const void* Desc; };
struct DML_BUFFER_TENSOR_DESC {
    DML_TENSOR_DATA_TYPE DataType;
    DML_TENSOR_FLAGS Flags;
    UINT DimensionCount;
    const UINT* Sizes;
    const UINT* Strides;
    UINT64 TotalTensorSizeInBytes;
    UINT GuaranteedBaseOffsetAlignment;
};

struct IDMLOperator;
struct DML_GRAPH_NODE_DESC { DML_GRAPH_NODE_TYPE Type; const void* Desc; };
struct DML_GRAPH_EDGE_DESC { DML_GRAPH_EDGE_TYPE Type; const void* Desc; };
struct DML_OPERATOR_GRAPH_NODE_DESC { IDMLOperator* Operator; const char* Name; };
struct DML_CONSTANT_DATA_GRAPH_NODE_DESC { const void* Data; SIZE_T DataSize; const char* Name; };
struct DML_INPUT_GRAPH_EDGE_DESC { UINT GraphInputIndex, ToNodeIndex, ToNodeInputIndex; const char* Name; };
struct DML_OUTPUT_GRAPH_EDGE_DESC { UINT FromNodeIndex, FromNodeOutputIndex, GraphOutputIndex; const char* Name; };
struct DML_INTERMEDIATE_GRAPH_EDGE_DESC {
    UINT FromNodeIndex, FromNodeOutputIndex, ToNodeIndex, ToNodeInputIndex;
    const char* Name;
};
struct DML_GRAPH_DESC {
    UINT InputCount, OutputCount, NodeCount;
    const DML_GRAPH_NODE_DESC* Nodes;
    UINT InputEdgeCount;
    const DML_GRAPH_EDGE_DESC* InputEdges;
    UINT OutputEdgeCount;
    const DML_GRAPH_EDGE_DESC* OutputEdges;
    UINT IntermediateEdgeCount;
    const DML_GRAPH_EDGE_DESC* IntermediateEdges;
};
