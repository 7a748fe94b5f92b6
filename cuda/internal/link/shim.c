//go:build cuda && linux && cgo

#include "shim.h"

extern int cuCtxSetCurrent(uintptr_t ctx);
extern int cuFuncSetAttribute(uintptr_t f, int attribute, int value);
extern int cuGetErrorName(int code, const char **name);
extern int cuGetErrorString(int code, const char **text);
extern int cuGraphDestroy(uintptr_t graph);
extern int cuGraphExecDestroy(uintptr_t exec);
extern int cuGraphInstantiateWithFlags(uintptr_t *exec, uintptr_t graph, unsigned long long flags);
extern int cuGraphLaunch(uintptr_t exec, uintptr_t stream);
extern int cuLaunchKernel(uintptr_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, uintptr_t stream, void **params, void **extra);
extern int cuMemFreeHost(uintptr_t p);
extern int cuMemHostAlloc(uintptr_t *p, size_t n, unsigned flags);
extern int cuModuleLoadDataEx(uintptr_t *module, const void *image, unsigned n, int *options, void **values);
extern int cuStreamBeginCapture_v2(uintptr_t stream, int mode);
extern int cuStreamEndCapture(uintptr_t stream, uintptr_t *graph);

enum { INVALID_VALUE = 1 };
enum { CAPTURE_RELAXED = 2 };     // other modes require begin and end on one thread
enum { HOSTALLOC_PORTABLE = 1 };  // pinned for every device
enum { ERROR_LOG_BUFFER = 5, ERROR_LOG_BUFFER_SIZE = 6 };

#define IN(ctx)                                   \
	do {                                      \
		int bad = cuCtxSetCurrent(ctx);   \
		if (bad)                          \
			return bad;               \
	} while (0)

int link_launch(uintptr_t ctx, uintptr_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                unsigned bz, unsigned shared, uintptr_t stream, char *params, uint16_t *offset, int n) {
	void *p[LINK_PARAMS];
	if (n > LINK_PARAMS)
		return INVALID_VALUE;
	for (int i = 0; i < n; i++)
		p[i] = params + offset[i];
	IN(ctx);
	return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, p, 0);
}

int link_begin_capture(uintptr_t ctx, uintptr_t stream) {
	IN(ctx);
	return cuStreamBeginCapture_v2(stream, CAPTURE_RELAXED);
}

int link_end_capture(uintptr_t ctx, uintptr_t stream, uintptr_t *exec) {
	uintptr_t graph = 0, x = 0;
	IN(ctx);
	int r = cuStreamEndCapture(stream, &graph);
	if (!r)
		r = cuGraphInstantiateWithFlags(&x, graph, 0);
	if (graph)
		cuGraphDestroy(graph); // the instance keeps what it needs
	*exec = x;
	return r;
}

int link_graph_launch(uintptr_t ctx, uintptr_t exec, uintptr_t stream) {
	IN(ctx);
	return cuGraphLaunch(exec, stream);
}

int link_graph_free(uintptr_t ctx, uintptr_t exec) {
	IN(ctx);
	return cuGraphExecDestroy(exec);
}

int link_host_alloc(uintptr_t ctx, size_t n, uintptr_t *p) {
	IN(ctx);
	return cuMemHostAlloc(p, n, HOSTALLOC_PORTABLE);
}

int link_host_free(uintptr_t ctx, uintptr_t p) {
	IN(ctx);
	return cuMemFreeHost(p);
}

int link_function_set(uintptr_t ctx, uintptr_t f, int attribute, int value) {
	IN(ctx);
	return cuFuncSetAttribute(f, attribute, value);
}

int link_module_load(uintptr_t ctx, const char *text, uintptr_t *module, char *log, unsigned size) {
	int options[] = {ERROR_LOG_BUFFER, ERROR_LOG_BUFFER_SIZE};
	void *values[] = {log, (void *)(uintptr_t)size};
	IN(ctx);
	return cuModuleLoadDataEx(module, text, 2, options, values);
}

const char *link_error_name(int code) {
	const char *s = 0;
	return cuGetErrorName(code, &s) ? 0 : s;
}

const char *link_error_text(int code) {
	const char *s = 0;
	return cuGetErrorString(code, &s) ? 0 : s;
}
