// cublasLt on the CPU, for tests: matrix products in plain loops on the fake
// driver's memory and streams. Numbers of attributes and types are those of the
// cuBLAS library's public documentation.
//
// Sums are computed in float64 and rounded once to the compute type. Other epilogues
// and combinations of types return NOT_SUPPORTED, as from a library without an
// algorithm for them.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, EXECUTION_FAILED = 13, NOT_SUPPORTED = 15 };
enum { R_32F = 0, R_64F = 1, R_16F = 2, R_16BF = 14 };
enum { COMPUTE_16F = 64, COMPUTE_32F = 68, COMPUTE_32F_PEDANTIC = 69, COMPUTE_64F = 70, FAST_16F = 74, FAST_16BF = 75, FAST_TF32 = 77 };
enum { EPILOGUE_DEFAULT = 1, RELU = 2, BIAS = 4, GELU = 32, AUX = 128 };

typedef struct { int compute, scale, pointer, transA, transB, epilogue, bias_type; void *bias, *aux; int64_t aux_ld, bias_stride, aux_stride; } Desc;
typedef struct { int type, order, batch; uint64_t rows, cols; int64_t ld, stride; } Layout;
typedef struct { uint64_t workspace; } Preference;
typedef struct { uint64_t data[8]; } Algo;
typedef struct { Algo algo; size_t workspace; int state; float waves; int reserved[4]; } Heuristic;

enum { MAGIC = 0x4C74, WORKSPACE = 4096 };

static int (*enqueue)(uintptr_t, int (*)(void *), const void *, int);
static int (*valid)(uint64_t, size_t);

int cublasLtCreate(void **handle) {
	const char *path = getenv("HALFNOTE_CUDA_DRIVER");
	void *driver = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : 0;
	if (!driver)
		return NOT_INITIALIZED;
	enqueue = (int (*)(uintptr_t, int (*)(void *), const void *, int))dlsym(driver, "fakecuda_enqueue");
	valid = (int (*)(uint64_t, size_t))dlsym(driver, "fakecuda_valid");
	if (!enqueue || !valid)
		return NOT_INITIALIZED;
	*handle = malloc(1);
	return SUCCESS;
}

int cublasLtDestroy(void *handle) { free(handle); return SUCCESS; }
size_t cublasLtGetVersion(void) { return 130000; }

int cublasLtMatmulDescCreate(Desc **out, int compute, int scale) {
	Desc *d = calloc(1, sizeof *d);
	d->compute = compute, d->scale = scale, d->epilogue = EPILOGUE_DEFAULT, d->bias_type = -1;
	*out = d;
	return SUCCESS;
}

int cublasLtMatmulDescDestroy(Desc *d) { free(d); return SUCCESS; }

static int set(void *field, size_t want, const void *value, size_t size) {
	if (size != want)
		return INVALID_VALUE;
	memcpy(field, value, size);
	return SUCCESS;
}

int cublasLtMatmulDescSetAttribute(Desc *d, int a, const void *v, size_t n) {
	switch (a) {
	case 0: return set(&d->compute, 4, v, n);
	case 1: return set(&d->scale, 4, v, n);
	case 2: return set(&d->pointer, 4, v, n);
	case 3: return set(&d->transA, 4, v, n);
	case 4: return set(&d->transB, 4, v, n);
	case 7: return set(&d->epilogue, 4, v, n);
	case 8: return set(&d->bias, 8, v, n);
	case 10: return set(&d->bias_stride, 8, v, n);
	case 11: return set(&d->aux, 8, v, n);
	case 12: return set(&d->aux_ld, 8, v, n);
	case 13: return set(&d->aux_stride, 8, v, n);
	case 26: return set(&d->bias_type, 4, v, n);
	}
	return INVALID_VALUE;
}

int cublasLtMatrixLayoutCreate(Layout **out, int type, uint64_t rows, uint64_t cols, int64_t ld) {
	Layout *l = calloc(1, sizeof *l);
	*l = (Layout){.type = type, .batch = 1, .rows = rows, .cols = cols, .ld = ld};
	*out = l;
	return SUCCESS;
}

int cublasLtMatrixLayoutDestroy(Layout *l) { free(l); return SUCCESS; }

int cublasLtMatrixLayoutSetAttribute(Layout *l, int a, const void *v, size_t n) {
	switch (a) {
	case 0: return set(&l->type, 4, v, n);
	case 1: return set(&l->order, 4, v, n);
	case 2: return set(&l->rows, 8, v, n);
	case 3: return set(&l->cols, 8, v, n);
	case 4: return set(&l->ld, 8, v, n);
	case 5: return set(&l->batch, 4, v, n);
	case 6: return set(&l->stride, 8, v, n);
	}
	return INVALID_VALUE;
}

int cublasLtMatmulPreferenceCreate(Preference **out) { *out = calloc(1, sizeof **out); return SUCCESS; }
int cublasLtMatmulPreferenceDestroy(Preference *p) { free(p); return SUCCESS; }

int cublasLtMatmulPreferenceSetAttribute(Preference *p, int a, const void *v, size_t n) {
	if (a == 1)
		return set(&p->workspace, 8, v, n);
	return a >= 0 && a <= 9 ? SUCCESS : INVALID_VALUE;
}

// Task is a product queued in a stream.
typedef struct {
	Desc desc;
	Layout a, b, c, d;
	uint64_t pa, pb, pc, pd;
	double alpha, beta;
	uint64_t device_alpha, device_beta; // 0: alpha and beta are given
} Task;

static int bytes(int type) { return type == R_64F ? 8 : type == R_32F ? 4 : 2; }
static int known(int type) { return type == R_32F || type == R_64F || type == R_16F || type == R_16BF; }

static int shapes(const Desc *d, const Layout *a, const Layout *b, const Layout *c, const Layout *r) {
	uint64_t m = d->transA ? a->cols : a->rows, k = d->transA ? a->rows : a->cols;
	uint64_t n = d->transB ? b->rows : b->cols, kb = d->transB ? b->cols : b->rows;
	return k == kb && r->rows == m && r->cols == n && c->rows == m && c->cols == n && a->batch == r->batch && b->batch == r->batch && c->batch == r->batch;
}

static int ld_fits(const Layout *l) { return l->ld >= (int64_t)(l->order ? l->cols : l->rows); }

static int supported(const Desc *d, const Layout *a, const Layout *b, const Layout *c, const Layout *r) {
	if (!known(a->type) || a->type != b->type || c->type != r->type || a->order > 1 || b->order > 1 || r->order > 1 || c->order != r->order)
		return 0;
	int e = d->epilogue & ~(EPILOGUE_DEFAULT | BIAS);
	if (e & AUX ? e != (GELU | AUX) : e != 0 && e != RELU && e != GELU)
		return 0;
	switch (d->compute) {
	case COMPUTE_64F:
		return a->type == R_64F && r->type == R_64F && d->scale == R_64F;
	case COMPUTE_16F:
		return a->type == R_16F && r->type == R_16F && d->scale == R_16F;
	case FAST_TF32: case FAST_16F: case FAST_16BF:
		return a->type == R_32F && r->type == R_32F && d->scale == R_32F;
	case COMPUTE_32F: case COMPUTE_32F_PEDANTIC:
		return a->type != R_64F && d->scale == R_32F && (r->type == R_32F || r->type == a->type);
	}
	return 0;
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, Desc *d, Layout *a, Layout *b, Layout *c, Layout *r, Preference *p, int want, Heuristic *list, int *got) {
	*got = 0;
	if (!shapes(d, a, b, c, r) || !ld_fits(a) || !ld_fits(b) || !ld_fits(c) || !ld_fits(r) || want < 1)
		return INVALID_VALUE;
	if (!supported(d, a, b, c, r))
		return NOT_SUPPORTED;
	memset(list, 0, want * sizeof *list);
	for (int i = 0; i < want && i < 2; i++, ++*got) {
		list[i].algo.data[0] = MAGIC;
		list[i].workspace = i == 0 && p->workspace >= WORKSPACE ? WORKSPACE : 0;
		list[i].algo.data[1] = list[i].workspace;
		list[i].waves = 1;
	}
	return SUCCESS;
}

static double from_half(uint16_t h) {
	int e = h >> 10 & 31, f = h & 1023;
	double x = e == 31 ? f ? NAN : INFINITY : e ? ldexp(1024 + f, e - 25) : ldexp(f, -24);
	return h >> 15 ? -x : x;
}

// to_format rounds to nearest even: p bits, smallest exponent of a normal number.
static double to_format(double x, int p, int smallest) {
	int e;
	if (x == 0 || !isfinite(x))
		return x;
	frexp(x, &e);
	e = (e - 1 > smallest ? e - 1 : smallest) - p + 1;
	return ldexp(rint(ldexp(x, -e)), e);
}

static uint16_t to_half(double x) {
	uint16_t sign = signbit(x) ? 0x8000 : 0;
	int e;
	if (x != x)
		return 0x7FFF;
	x = fabs(to_format(x, 11, -14));
	if (x >= 65536)
		return sign | 0x7C00;
	if (x < ldexp(1, -14))
		return sign | (uint16_t)ldexp(x, 24);
	frexp(x, &e);
	return sign | (e + 14) << 10 | ((uint16_t)ldexp(x, 11 - e) & 1023);
}

static double load(uint64_t p, int type, int64_t i) {
	switch (type) {
	case R_64F: return ((double *)p)[i];
	case R_32F: return ((float *)p)[i];
	case R_16F: return from_half(((uint16_t *)p)[i]);
	}
	uint32_t u = (uint32_t)((uint16_t *)p)[i] << 16;
	float f;
	memcpy(&f, &u, 4);
	return f;
}

static void store(uint64_t p, int type, int64_t i, double x) {
	switch (type) {
	case R_64F: ((double *)p)[i] = x; return;
	case R_32F: ((float *)p)[i] = (float)x; return;
	case R_16F: ((uint16_t *)p)[i] = to_half(x); return;
	}
	float f = (float)to_format(x, 8, -126);
	uint32_t u;
	memcpy(&u, &f, 4);
	((uint16_t *)p)[i] = x != x ? 0x7FFF : u >> 16;
}

static int64_t place(const Layout *l, int64_t row, int64_t col) { return l->order ? row * l->ld + col : col * l->ld + row; }

static int inside(uint64_t p, const Layout *l) {
	if (!l->rows || !l->cols)
		return 1;
	int64_t last = place(l, l->rows - 1, l->cols - 1) + (l->batch - 1) * l->stride;
	return p % bytes(l->type) == 0 && valid(p, (last + 1) * bytes(l->type));
}

static double prepared(double x, int compute) {
	switch (compute) {
	case FAST_TF32: return to_format(x, 11, -126);
	case FAST_16F: return from_half(to_half(x));
	case FAST_16BF: return to_format(x, 8, -126);
	}
	return x;
}

static double gelu(double x) { return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }

static int run(void *data) {
	enum { ILLEGAL_ADDRESS = 700 };
	Task *t = data;
	const Desc *d = &t->desc;
	int64_t m = t->d.rows, n = t->d.cols, k = d->transA ? t->a.rows : t->a.cols;
	int bias_type = d->bias_type < 0 ? t->d.type : d->bias_type;
	if (!inside(t->pa, &t->a) || !inside(t->pb, &t->b) || !inside(t->pd, &t->d))
		return ILLEGAL_ADDRESS;
	if (d->epilogue & BIAS && !valid((uint64_t)d->bias, m * bytes(bias_type)))
		return ILLEGAL_ADDRESS;
	if (t->device_alpha) {
		if (!valid(t->device_alpha, bytes(d->scale)) || !valid(t->device_beta, bytes(d->scale)))
			return ILLEGAL_ADDRESS;
		t->alpha = load(t->device_alpha, d->scale, 0);
		t->beta = load(t->device_beta, d->scale, 0);
	}
	if (t->beta != 0 && !inside(t->pc, &t->c))
		return ILLEGAL_ADDRESS;
	double *a = malloc((m * k + 1) * sizeof *a), *b = malloc((n * k + 1) * sizeof *b);
	for (int64_t z = 0; z < t->d.batch; z++) {
		for (int64_t i = 0; i < m; i++)
			for (int64_t l = 0; l < k; l++)
				a[i * k + l] = prepared(load(t->pa, t->a.type, z * t->a.stride + (d->transA ? place(&t->a, l, i) : place(&t->a, i, l))), d->compute);
		for (int64_t j = 0; j < n; j++)
			for (int64_t l = 0; l < k; l++)
				b[j * k + l] = prepared(load(t->pb, t->b.type, z * t->b.stride + (d->transB ? place(&t->b, j, l) : place(&t->b, l, j))), d->compute);
		for (int64_t j = 0; j < n; j++)
			for (int64_t i = 0; i < m; i++) {
				double s = 0;
				for (int64_t l = 0; l < k; l++)
					s += a[i * k + l] * b[j * k + l];
				if (d->compute != COMPUTE_64F)
					s = (float)s;
				s *= t->alpha;
				if (t->beta != 0)
					s += t->beta * load(t->pc, t->c.type, z * t->c.stride + place(&t->c, i, j));
				if (d->epilogue & BIAS)
					s += load((uint64_t)d->bias, bias_type, z * d->bias_stride + i);
				if (d->compute != COMPUTE_64F)
					s = (float)s;
				if (d->epilogue & AUX)
					store((uint64_t)d->aux, t->d.type, z * d->aux_stride + j * d->aux_ld + i, s);
				if (d->epilogue & RELU)
					s = s > 0 || s != s ? s : 0;
				if (d->epilogue & GELU)
					s = gelu(s);
				store(t->pd, t->d.type, z * t->d.stride + place(&t->d, i, j), s);
			}
	}
	free(a);
	free(b);
	return 0;
}

int cublasLtMatmul(void *handle, Desc *d, const void *alpha, uint64_t pa, Layout *a, uint64_t pb, Layout *b, const void *beta, uint64_t pc, Layout *c,
                   uint64_t pd, Layout *r, const Algo *algo, uint64_t workspace, size_t size, uintptr_t stream) {
	if (!handle || !shapes(d, a, b, c, r) || !ld_fits(a) || !ld_fits(b) || !ld_fits(c) || !ld_fits(r))
		return INVALID_VALUE;
	if (!supported(d, a, b, c, r) || (algo && algo->data[0] != MAGIC))
		return NOT_SUPPORTED;
	if (algo && algo->data[1] && (size < algo->data[1] || !valid(workspace, algo->data[1]) || workspace % 256))
		return INVALID_VALUE;
	if ((d->epilogue & BIAS && !d->bias) || (d->epilogue & AUX && (!d->aux || d->aux_ld < (int64_t)r->rows)))
		return INVALID_VALUE;
	Task t = {*d, *a, *b, *c, *r, pa, pb, pc, pd, 0, 0, 0, 0};
	if (d->pointer) {
		t.device_alpha = (uint64_t)alpha;
		t.device_beta = (uint64_t)beta;
	} else {
		t.alpha = load((uint64_t)alpha, d->scale, 0);
		t.beta = load((uint64_t)beta, d->scale, 0);
	}
	return enqueue(stream, run, &t, sizeof t) ? EXECUTION_FAILED : SUCCESS;
}
