// The least that the tests of packages link and drv need of a driver: handles,
// memory of the host, contexts that are current per thread, errors on request.
// Everything happens at once. A kernel's name is its parameters' sizes, "k848";
// the first is where it writes the sum of the others and the launch's shape.
//
// LINKTEST_INIT=n       cuInit returns n
// LINKTEST_VERSION=n    cuDriverGetVersion

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK, INVALID_VALUE, OUT_OF_MEMORY, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, INVALID_PTX = 218,
       INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700, CAPTURE_INVALIDATED = 901 };

typedef struct { const char *f; uint64_t param; } Launch; // of one parameter
typedef struct { int lazy, capturing, bad, n; Launch noted[16]; } Stream;

static int context[2]; // of each device: the sticky error
static __thread int *current;
static size_t used, capacity = 1 << 20;

#define CHECK                                 \
	if (!current) return INVALID_CONTEXT; \
	if (*current) return *current

static int setting(const char *name, int otherwise) {
	const char *s = getenv(name);
	return s ? atoi(s) : otherwise;
}

int cuInit(unsigned flags) { return setting("LINKTEST_INIT", 0); }
int cuDriverGetVersion(int *v) { *v = setting("LINKTEST_VERSION", 12060); return 0; }
int cuGetErrorName(int code, const char **name) {
	switch (code) {
	case OUT_OF_MEMORY: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return OK;
	case 100: *name = "CUDA_ERROR_NO_DEVICE"; return OK;
	case INVALID_PTX: *name = "CUDA_ERROR_INVALID_PTX"; return OK;
	case ILLEGAL_ADDRESS: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; return OK;
	}
	*name = 0;
	return INVALID_VALUE;
}
int cuGetErrorString(int code, const char **text) {
	const char *name;
	if (cuGetErrorName(code, &name))
		return INVALID_VALUE;
	*text = code == 100 ? "no CUDA-capable device is detected" : "a sentence";
	return OK;
}

// Devices and contexts

int cuDeviceGetCount(int *n) { *n = 2; return OK; }
int cuDeviceGet(int *d, int i) { *d = i; return i < 0 || i > 1 ? INVALID_DEVICE : OK; }
int cuDeviceGetName(char *s, int n, int d) { snprintf(s, n, "Tiny %d", d); return OK; }
int cuDeviceTotalMem_v2(size_t *n, int d) { *n = capacity; return OK; }
int cuDeviceGetAttribute(int *v, int a, int d) {
	switch (a) {
	case 16: *v = 132; return OK;
	case 75: *v = 9; return OK;
	case 76: *v = 0; return OK;
	}
	return INVALID_VALUE;
}
int cuDevicePrimaryCtxRetain(int **ctx, int d) { *ctx = context + d; return OK; }
int cuCtxSetCurrent(int *ctx) { current = ctx; return ctx ? OK : INVALID_CONTEXT; }
int cuCtxSynchronize(void) { CHECK; return OK; }

// Memory

int cuMemGetInfo_v2(size_t *free, size_t *total) { CHECK; *free = capacity - used; *total = capacity; return OK; }
int cuMemAlloc_v2(uint64_t *p, size_t n) {
	CHECK;
	if (!n)
		return INVALID_VALUE;
	if (used + n > capacity)
		return OUT_OF_MEMORY;
	used += n;
	size_t *m = malloc(n + 16);
	*m = n;
	*p = (uint64_t)(m + 2);
	return OK;
}
int cuMemFree_v2(uint64_t p) { CHECK; size_t *m = (size_t *)p - 2; used -= *m; free(m); return OK; }
int cuMemHostAlloc(void **p, size_t n, unsigned flags) { CHECK; *p = malloc(n); return OK; }
int cuMemFreeHost(void *p) { CHECK; free(p); return OK; }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, Stream *s) { CHECK; memcpy((void *)to, from, n); return OK; }
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, Stream *s) { CHECK; memcpy(to, (void *)from, n); return OK; }
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, Stream *s) { CHECK; memcpy((void *)to, (void *)from, n); return OK; }
int cuMemcpyPeerAsync(uint64_t to, int *a, uint64_t from, int *b, size_t n, Stream *s) {
	CHECK;
	if (a == b || a != current)
		return INVALID_CONTEXT;
	memcpy((void *)to, (void *)from, n);
	return OK;
}
int cuMemsetD8Async(uint64_t to, unsigned char v, size_t n, Stream *s) { CHECK; memset((void *)to, v, n); return OK; }
int cuMemsetD32Async(uint64_t to, unsigned v, size_t n, Stream *s) {
	CHECK;
	for (size_t i = 0; i < n; i++)
		((unsigned *)to)[i] = v;
	return OK;
}

// Kernels

int cuModuleLoadDataEx(char **m, const char *text, unsigned n, const int *options, void **values) {
	CHECK;
	if (!strstr(text, ".version")) {
		for (unsigned i = 0; i < n; i++)
			if (options[i] == 5)
				snprintf(values[i], (size_t)values[i + 1], "line 1: not PTX");
		return INVALID_PTX;
	}
	*m = strdup(text);
	return OK;
}
int cuModuleGetFunction(char **f, const char *m, const char *name) {
	CHECK;
	if (!strstr(m, name))
		return NOT_FOUND;
	*f = strdup(name);
	return OK;
}
int cuFuncGetAttribute(int *v, int a, const char *f) { CHECK; *v = 10 + a; return OK; }
int cuFuncSetAttribute(const char *f, int a, int v) { CHECK; return a == 8 && v <= 227 << 10 ? OK : INVALID_VALUE; }

static int run(const char *f, void **params, const unsigned *shape) {
	if (!strcmp(f, "fault"))
		return *current = ILLEGAL_ADDRESS;
	uint64_t sum = 0, *out = *(uint64_t **)params[0];
	if (!strcmp(f, "increment")) {
		++*(unsigned *)out;
		return OK;
	}
	for (int i = 1; f[1 + i]; i++) {
		uint64_t v = 0;
		memcpy(&v, params[i], f[1 + i] - '0');
		sum += v;
	}
	out[0] = sum;
	for (int i = 0; i < 7; i++)
		out[1 + i] = shape[i];
	return OK;
}
int cuLaunchKernel(const char *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, Stream *s, void **params, void **extra) {
	CHECK;
	unsigned shape[] = {gx, gy, gz, bx, by, bz, shared};
	if (s && s->capturing) {
		s->noted[s->n++] = (Launch){f, *(uint64_t *)params[0]};
		return OK;
	}
	return run(f, params, shape);
}

// Streams, events and graphs

int cuStreamCreate(Stream **s, unsigned flags) { CHECK; *s = calloc(1, sizeof **s); return flags == 1 ? OK : INVALID_VALUE; }
int cuStreamDestroy_v2(Stream *s) { CHECK; free(s); return OK; }
int cuStreamSynchronize(Stream *s) { CHECK; s->bad = s->capturing; return s->bad ? 900 : OK; }
int cuStreamQuery(Stream *s) { CHECK; s->lazy = !s->lazy; return s->lazy ? NOT_READY : OK; }
int cuStreamWaitEvent(Stream *s, Stream **e, unsigned flags) { CHECK; return *e ? OK : INVALID_HANDLE; }
int cuStreamBeginCapture_v2(Stream *s, int mode) { CHECK; s->capturing = 1; s->n = 0; return mode == 2 ? OK : INVALID_VALUE; }
int cuStreamEndCapture(Stream *s, Stream **graph) {
	CHECK;
	int bad = s->bad;
	s->capturing = s->bad = 0;
	if (bad)
		return CAPTURE_INVALIDATED;
	*graph = malloc(sizeof *s);
	**graph = *s;
	return OK;
}
int cuGraphInstantiateWithFlags(Stream **exec, Stream *graph, unsigned long long flags) {
	CHECK;
	*exec = malloc(sizeof *graph);
	**exec = *graph;
	return flags ? INVALID_VALUE : OK;
}
int cuGraphDestroy(Stream *g) { CHECK; free(g); return OK; }
int cuGraphExecDestroy(Stream *g) { CHECK; free(g); return OK; }
int cuGraphLaunch(Stream *g, Stream *s) {
	CHECK;
	for (int i = 0; i < g->n; i++) {
		void *param = &g->noted[i].param;
		run(g->noted[i].f, &param, 0);
	}
	return OK;
}

int cuEventCreate(void ***e, unsigned flags) { CHECK; *e = calloc(1, sizeof **e); return OK; }
int cuEventDestroy_v2(void **e) { CHECK; free(e); return OK; }
int cuEventRecord(void **e, Stream *s) { CHECK; *e = s; return OK; }
int cuEventQuery(Stream **e) { CHECK; return *e ? cuStreamQuery(*e) : OK; }
int cuEventSynchronize(Stream **e) { CHECK; return OK; }
int cuEventElapsedTime(float *ms, void **a, void **b) { CHECK; *ms = 1.5; return OK; }
