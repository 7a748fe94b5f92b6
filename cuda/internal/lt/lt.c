//go:build cuda && linux && cgo

#include "lt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int cuCtxSetCurrent(uintptr_t ctx); // defined in package link

enum { NOT_INITIALIZED = 1, ALLOC_FAILED = 3, NOT_SUPPORTED = 15 };
enum { DESC_TRANSA = 3, DESC_TRANSB = 4, DESC_EPILOGUE = 7, DESC_BIAS_POINTER = 8, DESC_BIAS_TYPE = 26 };
enum { LAYOUT_BATCH_COUNT = 5, LAYOUT_BATCH_STRIDE = 6 };
enum { PREFERENCE_WORKSPACE = 1, PREFERENCE_REDUCTIONS = 3, PREFERENCE_ALIGN_A = 5 }; // B, C and D follow
enum { REDUCTION_IN_COMPUTE_TYPE = 2 };
enum { EPILOGUE_BIAS = 4 };
enum { TYPE_64F = 1 };

// algorithm is cublasLtMatmulAlgo_t, found cublasLtMatmulHeuristicResult_t.
typedef struct {
	uint64_t data[8];
} algorithm;

typedef struct {
	algorithm algo;
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
} found;

struct lt_library {
	void *file;
	int (*Create)(uintptr_t *handle);
	int (*Matmul)(uintptr_t handle, uintptr_t desc, const void *alpha, uintptr_t a, uintptr_t la, uintptr_t b, uintptr_t lb, const void *beta, uintptr_t c,
	              uintptr_t lc, uintptr_t d, uintptr_t ld, const algorithm *algo, uintptr_t workspace, size_t room, uintptr_t stream);
	int (*MatmulAlgoGetHeuristic)(uintptr_t handle, uintptr_t desc, uintptr_t la, uintptr_t lb, uintptr_t lc, uintptr_t ld, uintptr_t preference, int wanted,
	                              found *list, int *count);
	int (*MatmulDescCreate)(uintptr_t *desc, int compute, int scale);
	int (*MatmulDescSetAttribute)(uintptr_t desc, int attribute, const void *value, size_t size);
	int (*MatmulDescDestroy)(uintptr_t desc);
	int (*MatmulPreferenceCreate)(uintptr_t *preference);
	int (*MatmulPreferenceSetAttribute)(uintptr_t preference, int attribute, const void *value, size_t size);
	int (*MatmulPreferenceDestroy)(uintptr_t preference);
	int (*MatrixLayoutCreate)(uintptr_t *layout, int type, uint64_t rows, uint64_t columns, int64_t ld);
	int (*MatrixLayoutSetAttribute)(uintptr_t layout, int attribute, const void *value, size_t size);
	int (*MatrixLayoutDestroy)(uintptr_t layout);
};

struct lt_plan {
	uintptr_t desc, layout[4]; // matrices A, B, C, D
	algorithm algo;
	int doubles; // alpha and beta are doubles
};

lt_library *lt_open(const char *path, char *message, int size) {
	lt_library *l = calloc(1, sizeof *l);
	if (!l)
		return 0;
	if (!(l->file = dlopen(path, RTLD_NOW | RTLD_LOCAL))) {
		snprintf(message, size, "%s", dlerror());
		free(l);
		return 0;
	}
#define FIND(name)                                                                 \
	if (!(*(void **)&l->name = dlsym(l->file, "cublasLt" #name))) {            \
		snprintf(message, size, "%s lacks cublasLt%s", path, #name);       \
		lt_close(l);                                                       \
		return 0;                                                          \
	}
	FIND(Create)
	FIND(Matmul)
	FIND(MatmulAlgoGetHeuristic)
	FIND(MatmulDescCreate)
	FIND(MatmulDescSetAttribute)
	FIND(MatmulDescDestroy)
	FIND(MatmulPreferenceCreate)
	FIND(MatmulPreferenceSetAttribute)
	FIND(MatmulPreferenceDestroy)
	FIND(MatrixLayoutCreate)
	FIND(MatrixLayoutSetAttribute)
	FIND(MatrixLayoutDestroy)
	return l;
}

void lt_close(lt_library *l) {
	dlclose(l->file);
	free(l);
}

int lt_create(lt_library *l, uintptr_t ctx, uintptr_t *handle) {
	if (cuCtxSetCurrent(ctx))
		return NOT_INITIALIZED;
	return l->Create(handle);
}

#define TRY(call)                  \
	do {                       \
		int bad = (call);  \
		if (bad)           \
			return bad; \
	} while (0)

static int layout(lt_library *l, uintptr_t *to, int type, int64_t rows, int64_t columns, int64_t ld, int64_t batches, int64_t stride) {
	int32_t count = (int32_t)batches;
	TRY(l->MatrixLayoutCreate(to, type, (uint64_t)rows, (uint64_t)columns, ld));
	TRY(l->MatrixLayoutSetAttribute(*to, LAYOUT_BATCH_COUNT, &count, sizeof count));
	return l->MatrixLayoutSetAttribute(*to, LAYOUT_BATCH_STRIDE, &stride, sizeof stride);
}

static int describe(lt_library *l, const lt_shape *s, uintptr_t bias, lt_plan *p) {
	int32_t ta = s->transpose_a, tb = s->transpose_b, epilogue = EPILOGUE_BIAS, type = s->type_cd;
	TRY(l->MatmulDescCreate(&p->desc, s->compute, s->scale));
	TRY(l->MatmulDescSetAttribute(p->desc, DESC_TRANSA, &ta, sizeof ta));
	TRY(l->MatmulDescSetAttribute(p->desc, DESC_TRANSB, &tb, sizeof tb));
	if (s->bias) {
		TRY(l->MatmulDescSetAttribute(p->desc, DESC_EPILOGUE, &epilogue, sizeof epilogue));
		TRY(l->MatmulDescSetAttribute(p->desc, DESC_BIAS_POINTER, &bias, sizeof bias));
		l->MatmulDescSetAttribute(p->desc, DESC_BIAS_TYPE, &type, sizeof type); // the default is D's type; older libraries support no other
	}
	TRY(layout(l, &p->layout[0], s->type_ab, ta ? s->k : s->m, ta ? s->m : s->k, s->lda, s->batches, s->stride_a));
	TRY(layout(l, &p->layout[1], s->type_ab, tb ? s->n : s->k, tb ? s->k : s->n, s->ldb, s->batches, s->stride_b));
	TRY(layout(l, &p->layout[2], s->type_cd, s->m, s->n, s->ldc, s->batches, s->stride_c));
	return layout(l, &p->layout[3], s->type_cd, s->m, s->n, s->ldd, s->batches, s->stride_d);
}

static int choose(lt_library *l, uintptr_t handle, const lt_shape *s, size_t room, uintptr_t preference, lt_plan *p, size_t *workspace) {
	uint64_t most = room;
	uint32_t reductions = REDUCTION_IN_COMPUTE_TYPE; // partial sums are not rounded to half precision
	uint32_t align[4] = {(uint32_t)s->align_a, (uint32_t)s->align_b, (uint32_t)s->align_c, (uint32_t)s->align_d};
	found best;
	int count = 0;
	TRY(l->MatmulPreferenceSetAttribute(preference, PREFERENCE_WORKSPACE, &most, sizeof most));
	TRY(l->MatmulPreferenceSetAttribute(preference, PREFERENCE_REDUCTIONS, &reductions, sizeof reductions));
	for (int i = 0; i < 4; i++)
		TRY(l->MatmulPreferenceSetAttribute(preference, PREFERENCE_ALIGN_A + i, &align[i], sizeof align[i]));
	TRY(l->MatmulAlgoGetHeuristic(handle, p->desc, p->layout[0], p->layout[1], p->layout[2], p->layout[3], preference, 1, &best, &count));
	if (!count || best.state)
		return NOT_SUPPORTED;
	p->algo = best.algo;
	*workspace = best.workspace;
	return 0;
}

int lt_make(lt_library *l, uintptr_t ctx, uintptr_t handle, const lt_shape *s, size_t room, uintptr_t bias, lt_plan **plan, size_t *workspace) {
	uintptr_t preference = 0;
	lt_plan *p = calloc(1, sizeof *p);
	if (!p)
		return ALLOC_FAILED;
	p->doubles = s->scale == TYPE_64F;
	int r = cuCtxSetCurrent(ctx) ? NOT_INITIALIZED : describe(l, s, bias, p);
	if (!r)
		r = l->MatmulPreferenceCreate(&preference);
	if (!r)
		r = choose(l, handle, s, room, preference, p, workspace);
	if (preference)
		l->MatmulPreferenceDestroy(preference);
	if (r) {
		for (int i = 0; i < 4; i++)
			if (p->layout[i])
				l->MatrixLayoutDestroy(p->layout[i]);
		if (p->desc)
			l->MatmulDescDestroy(p->desc);
		free(p);
		return r;
	}
	*plan = p;
	return 0;
}

int lt_run(lt_library *l, uintptr_t ctx, uintptr_t handle, lt_plan *p, double beta, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t bias,
           uintptr_t workspace, size_t room, uintptr_t stream) {
	double alphas = 1;
	float alpha = 1, single = (float)beta;
	if (cuCtxSetCurrent(ctx))
		return NOT_INITIALIZED;
	if (bias)
		TRY(l->MatmulDescSetAttribute(p->desc, DESC_BIAS_POINTER, &bias, sizeof bias));
	return l->Matmul(handle, p->desc, p->doubles ? (void *)&alphas : &alpha, a, p->layout[0], b, p->layout[1], p->doubles ? (void *)&beta : &single, c, p->layout[2], d,
	                 p->layout[3], &p->algo, workspace, room, stream);
}
