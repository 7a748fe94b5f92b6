// The least that package link's tests need of a driver: it starts, or does not;
// contexts are current per thread; a launch adds up its parameters.
//
// LINKTEST_INIT=n     cuInit returns n

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static __thread uintptr_t current;

int cuInit(unsigned flags) {
	const char *s = getenv("LINKTEST_INIT");
	return s ? atoi(s) : 0;
}
int cuGetErrorName(int code, const char **name) {
	*name = code == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_UNKNOWN";
	return 0;
}
int cuGetErrorString(int code, const char **text) {
	*text = code == 100 ? "no CUDA-capable device is detected" : "unknown error";
	return 0;
}
int cuDriverGetVersion(int *v) { *v = 12060; return 0; }
int cuCtxSetCurrent(uintptr_t ctx) { current = ctx; return ctx ? 0 : 201; }

// The function is a list of its parameters' sizes. The stream receives the sum of
// the parameters and the launch's shape.
int cuLaunchKernel(const char *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, uint64_t *stream, void **params, void **extra) {
	if (!current)
		return 201;
	for (int i = 0; f[i]; i++) {
		uint64_t v = 0;
		memcpy(&v, params[i], f[i] - '0');
		stream[0] += v;
	}
	unsigned shape[] = {gx, gy, gz, bx, by, bz, shared};
	for (int i = 0; i < 7; i++)
		stream[1 + i] = shape[i];
	return 0;
}
