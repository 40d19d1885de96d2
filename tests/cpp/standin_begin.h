// A stand-in for DirectML.h, made by tests/cpp/standin.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(_WIN32)
#include <windows.h>
#include <unknwn.h>
#else
typedef int BOOL;
typedef int INT;
typedef float FLOAT;
typedef double DOUBLE;
typedef unsigned int UINT;
typedef std::uint64_t UINT64;
typedef std::int64_t INT64;
typedef std::uint8_t BYTE;
typedef std::uint8_t UINT8;
typedef std::int8_t INT8;
typedef std::uint16_t UINT16;
typedef std::int16_t INT16;
typedef std::uint32_t UINT32;
typedef std::int32_t INT32;
typedef std::uint32_t ULONG;
typedef std::int32_t HRESULT;
typedef std::size_t SIZE_T;
typedef const wchar_t* PCWSTR;

struct GUID {
    std::uint32_t Data1;
    std::uint16_t Data2, Data3;
    std::uint8_t Data4[8];
};
typedef const GUID& REFGUID;
typedef const GUID& REFIID;

#define TRUE 1
#define FALSE 0
#define S_OK ((HRESULT)0)
#define S_FALSE ((HRESULT)1)
#define E_NOINTERFACE ((HRESULT)0x80004002)
#define E_POINTER ((HRESULT)0x80004003)
#define E_INVALIDARG ((HRESULT)0x80070057)
#define E_OUTOFMEMORY ((HRESULT)0x8007000E)
#define FAILED(result) ((HRESULT)(result) < 0)
#define STDMETHODCALLTYPE

struct IUnknown {
    virtual HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) = 0;
    virtual ULONG STDMETHODCALLTYPE AddRef() = 0;
    virtual ULONG STDMETHODCALLTYPE Release() = 0;
};
#endif

#ifndef DML_TARGET_VERSION
#define DML_TARGET_VERSION @VERSION@
#endif
