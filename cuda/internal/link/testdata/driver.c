// A minimal driver for the tests of package link: it starts or fails to start; a launch requires
// a current context and reads its parameters at once. A kernel is the list of its parameters'
// sizes, "k848"; the first parameter is the address to which it writes the sum of the others and
// the launch's shape.
//
// LINKTEST_INIT=n    cuInit returns n

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OK, INVALID_CONTEXT = 201 };

static int context;
static __thread int *current;

int cuInit(unsigned flags) {
	const char *s = getenv("LINKTEST_INIT");
	return s ? atoi(s) : OK;
}
int cuGetErrorName(int code, const char **name) { *name = "CUDA_ERROR_NO_DEVICE"; return OK; }
int cuGetErrorString(int code, const char **text) { *text = "no CUDA-capable device is detected"; return OK; }
int cuDriverGetVersion(int *v) { *v = 12060; return OK; }
int cuDeviceGet(int *d, int i) { *d = i; return OK; }
int cuDevicePrimaryCtxRetain(int **ctx, int d) { *ctx = &context; return OK; }
int cuCtxSetCurrent(int *ctx) { current = ctx; return ctx ? OK : INVALID_CONTEXT; }

int cuLaunchKernel(const char *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **params, void **extra) {
	if (!current)
		return INVALID_CONTEXT;
	uint64_t sum = 0, *out = *(uint64_t **)params[0];
	for (int i = 1; f[1 + i]; i++) {
		uint64_t v = 0;
		memcpy(&v, params[i], f[1 + i] - '0');
		sum += v;
	}
	uint64_t told[] = {sum, gx, gy, gz, bx, by, bz, shared};
	memcpy(out, told, sizeof told);
	return OK;
}
