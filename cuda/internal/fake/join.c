//go:build cuda && linux && cgo

#include <dlfcn.h>
#include <stddef.h>

#include "driver/join.h"
#include "_cgo_export.h"

static void *library;

const char *fake_join(char *path) {
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return dlerror();
	void (*set)(Hooks *) = (void (*)(Hooks *))dlsym(library, "fakecuda_join");
	if (!set)
		return "not the fake driver";
	Hooks h = {fakeLoad, fakeUnload, fakeFunction, fakeGlobal, fakeLaunch};
	set(&h);
	return NULL;
}

void fake_configure(void) { ((void (*)(void))dlsym(library, "fakecuda_configure"))(); }

uint64_t fake_counter(int i) {
	if (!library)
		return 0;
	return ((uint64_t (*)(int))dlsym(library, "fakecuda_counter"))(i);
}
