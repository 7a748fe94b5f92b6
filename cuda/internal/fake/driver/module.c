#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Module **modules;
static int nmodules;

static int find(Module *m) {
	for (int i = 0; i < nmodules; i++)
		if (modules[i] == m)
			return i;
	return -1;
}

int is_function(Function *f) {
	for (int i = 0; i < nmodules; i++)
		for (Function *g = modules[i]->functions; g; g = g->next)
			if (g == f)
				return 1;
	return 0;
}

enum { INFO_LOG = 3, INFO_SIZE = 4, ERROR_LOG = 5, ERROR_SIZE = 6 };

Result cuModuleLoadDataEx(Module **out, const char *text, unsigned n, int *options, void **values) {
	ENTER;
	char none[1024], *log = none;
	size_t size = sizeof none;
	for (unsigned i = 0; i < n; i++) {
		if (options[i] == ERROR_LOG)
			log = values[i];
		if (options[i] == ERROR_SIZE)
			size = (unsigned)(uintptr_t)values[i];
	}
	if (log == none)
		size = sizeof none;
	if (size)
		*log = 0;
	Result r = capturing_strictly();
	if (r)
		return leave(r);
	if (!hooks.load)
		return leave(NOT_SUPPORTED);
	int id;
	r = hooks.load((char *)text, setting.capability, setting.version, log, size, &id);
	if (r)
		return leave(r);
	Module *m = calloc(1, sizeof *m);
	m->id = id;
	m->device = current->device;
	modules = realloc(modules, (nmodules + 1) * sizeof *modules);
	modules[nmodules++] = *out = m;
	return leave(OK);
}

Result cuModuleLoadData(Module **out, const char *text) { return cuModuleLoadDataEx(out, text, 0, 0, 0); }

Result cuModuleUnload(Module *m) {
	ENTER;
	int i = find(m);
	if (i < 0)
		return leave(INVALID_HANDLE);
	Result r = drain_device(m->device);
	modules[i] = modules[--nmodules];
	hooks.unload(m->id);
	for (Function *f = m->functions; f;) {
		Function *next = f->next;
		free(f);
		f = next;
	}
	free(m);
	return leave(r);
}

Result cuModuleGetFunction(Function **out, Module *m, const char *name) {
	ENTER;
	if (find(m) < 0)
		return leave(INVALID_HANDLE);
	for (Function *f = m->functions; f; f = f->next)
		if (!strcmp(f->name, name)) {
			*out = f;
			return leave(OK);
		}
	Function *f = calloc(1, sizeof *f + strlen(name) + 1);
	strcpy(f->name, name);
	f->module = m;
	Result r = hooks.function(m->id, f->name, &f->layout);
	if (r) {
		free(f);
		return leave(r);
	}
	f->most = (48 << 10) - f->layout.shared;
	f->next = m->functions;
	m->functions = f;
	*out = f;
	return leave(OK);
}

Result cuModuleGetGlobal_v2(Ptr *p, size_t *n, Module *m, const char *name) {
	ENTER;
	if (find(m) < 0)
		return leave(INVALID_HANDLE);
	Ptr at;
	size_t size;
	Result r = hooks.global(m->id, (char *)name, &at, &size);
	if (!r && p)
		*p = at;
	if (!r && n)
		*n = size;
	return leave(r);
}

Result cuFuncGetAttribute(int *v, int a, Function *f) {
	ENTER;
	if (!is_function(f))
		return leave(INVALID_HANDLE);
	switch (a) {
	case 0: *v = f->layout.threads; return leave(OK);
	case 1: *v = f->layout.shared; return leave(OK);
	case 2: *v = 0; return leave(OK);
	case 3: *v = f->layout.local; return leave(OK);
	case 4: *v = f->layout.registers < 255 ? f->layout.registers + 1 : 255; return leave(OK);
	case 5: case 6: *v = setting.capability; return leave(OK);
	case 7: *v = 0; return leave(OK);
	case 8: *v = f->most; return leave(OK);
	case 9: *v = -1; return leave(OK);
	}
	return leave(INVALID_VALUE);
}

Result cuFuncSetAttribute(Function *f, int a, int v) {
	ENTER;
	if (!is_function(f))
		return leave(INVALID_HANDLE);
	if (a == 9)
		return leave(v < -1 || v > 100 ? INVALID_VALUE : OK);
	if (a != 8 || v < 0 || v + f->layout.shared > 227 << 10)
		return leave(INVALID_VALUE);
	f->most = v;
	return leave(OK);
}

Result cuFuncSetCacheConfig(Function *f, int config) { ENTER; return leave(is_function(f) ? OK : INVALID_HANDLE); }

// Computed from threads, registers and shared memory, as in the programming guide.
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function *f, int threads, size_t dynamic) {
	ENTER;
	if (!is_function(f) || threads <= 0)
		return leave(INVALID_VALUE);
	if (threads > f->layout.threads) {
		*blocks = 0;
		return leave(OK);
	}
	int n = 2048 / ((threads + 31) / 32 * 32), shared = f->layout.shared + dynamic + 1024;
	if (n > 32)
		n = 32;
	if (n > (228 << 10) / shared)
		n = (228 << 10) / shared;
	*blocks = n;
	return leave(OK);
}

Result cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, Function *f, int threads, size_t dynamic, unsigned flags) {
	return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, dynamic);
}

Result cuLaunchKernel(Function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, uintptr_t stream, void **params, void **extra) {
	ENTER;
	if (!is_function(f))
		return leave(INVALID_HANDLE);
	Stream *s = find_stream(stream);
	if (!s)
		return leave(INVALID_HANDLE);
	if (f->module->device != current->device)
		return leave(INVALID_HANDLE);
	uint64_t threads = (uint64_t)bx * by * bz;
	if (!gx || !gy || !gz || !threads || gx > 0x7FFFFFFF || gy > 65535 || gz > 65535 || bx > 1024 || by > 1024 || bz > 64 ||
	    threads > 1024 || (int64_t)shared > f->most)
		return leave(INVALID_VALUE);
	if (threads > (uint64_t)f->layout.threads)
		return leave(701);
	char buffer[PARAM_BYTES];
	Layout *l = &f->layout;
	int bytes = l->params ? l->param[l->params - 1].offset + l->param[l->params - 1].size : 0;
	if (params) {
		for (int i = 0; i < l->params; i++)
			memcpy(buffer + l->param[i].offset, params[i], l->param[i].size);
	} else if (extra) {
		for (int i = 0; extra[i]; i += 2) {
			if (extra[i] == (void *)1)
				memcpy(buffer, extra[i + 1], bytes);
			if (extra[i] == (void *)2 && *(size_t *)extra[i + 1] < (size_t)bytes)
				return leave(INVALID_VALUE);
		}
	} else if (l->params)
		return leave(INVALID_VALUE);
	Op *op = new_op(KERNEL, buffer, bytes);
	op->function = f;
	op->shared = shared;
	op->most = f->most + l->shared;
	unsigned shape[6] = {gx, gy, gz, bx, by, bz};
	memcpy(op->shape, shape, sizeof shape);
	if (++counters[LAUNCHES] == (uint64_t)setting.fail_launch)
		op->value = setting.fail_code;
	return leave(enqueue(s, op));
}
