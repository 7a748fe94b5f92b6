// cublasLt, loaded by dlopen. The prototypes are declared here. Each call first makes ctx
// current, because a goroutine may run on any thread, and returns a cublasStatus_t.

#include <stddef.h>
#include <stdint.h>

typedef struct lt_library lt_library;

// lt_shape is a batch of column-major products D (m,n) = op(A) (m,k) times op(B) (k,n) + beta C.
typedef struct {
	int64_t m, n, k, batches;
	int64_t lda, ldb, ldc, ldd;
	int64_t stride_a, stride_b, stride_c, stride_d; // distance between matrices
	int transpose_a, transpose_b;
	int type_ab, type_cd; // cudaDataType
	int compute, scale;   // cublasComputeType_t, cudaDataType
	int bias;             // whether a vector of m elements is added to each column
	int align_a, align_b, align_c, align_d;
} lt_shape;

typedef struct lt_plan lt_plan;

lt_library *lt_open(const char *path, char *message, int size);
void lt_close(lt_library *l);
int lt_create(lt_library *l, uintptr_t ctx, uintptr_t *handle);
int lt_make(lt_library *l, uintptr_t ctx, uintptr_t handle, const lt_shape *s, size_t room, uintptr_t bias, lt_plan **plan, size_t *workspace);
int lt_run(lt_library *l, uintptr_t ctx, uintptr_t handle, lt_plan *p, double beta, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t bias,
           uintptr_t workspace, size_t room, uintptr_t stream);
