//go:build cuda && linux && cgo

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "shim.h"
#include "table.h"

enum { NOT_INITIALIZED = 3, NO_DEVICE = 100, NOT_FOUND = 500 };

static int state = NOT_INITIALIZED;

int link_unbound(void) { return __atomic_load_n(&state, __ATOMIC_ACQUIRE); }

static int missing(void) { return NOT_FOUND; } // the driver is older than the function

// gorgonia.org/cu calls cuInit when its package is initialised, and exits the process if it
// fails. So this one succeeds; link_load does the work.
__attribute__((visibility("hidden"))) int cuInit(unsigned flags) {
	(void)flags;
	return 0;
}

static int failed(int code) {
	__atomic_store_n(&state, code, __ATOMIC_RELEASE);
	return code;
}

int link_load(const char *path, char *message, int size) {
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		snprintf(message, size, "no NVIDIA driver: %s", dlerror());
		return failed(NO_DEVICE);
	}
	int (*init)(unsigned) = (int (*)(unsigned))dlsym(lib, "cuInit");
	if (!init) {
		snprintf(message, size, "%s is not an NVIDIA driver: it has no cuInit", path);
		return failed(NO_DEVICE);
	}
	int r = init(0);
	if (r) {
		const char *name = "error", *text = "no text";
		int (*get)(int, const char **) = (int (*)(int, const char **))dlsym(lib, "cuGetErrorName");
		if (get)
			get(r, &name);
		if ((get = (int (*)(int, const char **))dlsym(lib, "cuGetErrorString")))
			get(r, &text);
		snprintf(message, size, "the NVIDIA driver %s does not start: %s (%s, %d)", path, text, name, r);
		return failed(r);
	}
	for (int i = 0; i < link_count; i++) {
		void *f = dlsym(lib, link_name[i]);
		__atomic_store_n(&link_slot[i], f ? f : (void *)missing, __ATOMIC_RELEASE);
	}
	return 0;
}
