// Interface between the driver and the test that built it.

#ifndef JOIN_H
#define JOIN_H

#include <stddef.h>
#include <stdint.h>

typedef int Result;
typedef uint64_t Ptr;

enum {
	OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101,
	INVALID_IMAGE = 200, INVALID_CONTEXT = 201, INVALID_PTX = 218, UNSUPPORTED_PTX_VERSION = 222,
	INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700, LAUNCH_FAILED = 719,
	PEER_ACCESS_ALREADY = 704, PEER_ACCESS_NOT = 705, HOST_MEMORY_NOT_REGISTERED = 713, NOT_SUPPORTED = 801,
	CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901, CAPTURE_UNMATCHED = 903, CAPTURE_UNJOINED = 904,
	CAPTURE_ISOLATION = 905, CAPTURE_IMPLICIT = 906, CAPTURED_EVENT = 907, CAPTURE_WRONG_THREAD = 908,
};

// Range is a piece of memory that a kernel may access.
typedef struct { Ptr at; uint64_t size; } Range;

typedef struct { int offset, size; } Param;

enum { MAX_PARAMS = 128, PARAM_BYTES = 4096 };

// Layout describes a kernel to the driver.
typedef struct {
	int id, params, shared, local, registers, threads;
	Param param[MAX_PARAMS];
} Layout;

// Hooks are the functions of the interpreter. Each returns a CUresult.
typedef struct {
	Result (*load)(char *text, int capability, int version, char *log, size_t size, int *module);
	void (*unload)(int module);
	Result (*function)(int module, char *name, Layout *layout);
	Result (*global)(int module, char *name, Ptr *at, size_t *size);
	Result (*launch)(int function, unsigned *shape, unsigned shared, unsigned most, void *params, int bytes, Range *ranges, int n);
} Hooks;

// Counters for tests.
enum { LAUNCHES, ALLOCS, FREES, SYNCS, COPIES, RUNS, GRAPH_LAUNCHES, PINNED_ALLOCS, COUNTERS };

#endif
