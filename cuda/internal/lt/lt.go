//go:build cuda && linux && cgo

package lt

/*
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "lt.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	_ "halfnote/cuda/internal/link" // defines cuCtxSetCurrent
)

// Handle is the library, opened for one GPU. It is safe for concurrent use.
type Handle struct {
	file    string
	library *C.lt_library
	context uintptr
	handle  C.uintptr_t

	mu    sync.Mutex
	plans map[Shape]*Plan
}

// Open returns a handle for the GPU of a context. The error says why there is none: the library
// was not found, or the driver is too old for it.
func Open(context uintptr) (*Handle, error) {
	var failed []error
	for _, file := range candidates() {
		h, err := open(file, context)
		if err == nil {
			return h, nil
		}
		failed = append(failed, err)
	}
	return nil, fmt.Errorf("lt: cublasLt is not available: %w", errors.Join(failed...))
}

func open(file string, context uintptr) (*Handle, error) {
	const size = 1024
	path, message := C.CString(file), (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(path))
	defer C.free(unsafe.Pointer(message))
	library := C.lt_open(path, message, size)
	if library == nil {
		return nil, errors.New(C.GoString(message))
	}
	h := &Handle{file: file, library: library, context: context, plans: map[Shape]*Plan{}}
	if s := Status(C.lt_create(library, C.uintptr_t(context), &h.handle)); s != 0 {
		C.lt_close(library)
		return nil, fmt.Errorf("%s: cublasLtCreate: %w", file, s)
	}
	return h, nil
}

// File returns the name of the opened library, for example "libcublasLt.so.13".
func (h *Handle) File() string { return h.file }

// Type is a cudaDataType.
type Type int

// Element types.
const (
	Float32  Type = 0
	Float64  Type = 1
	Float16  Type = 2
	BFloat16 Type = 14
)

// Shape selects an algorithm: a batch of column-major products D (M,N) = op(A) (M,K) times op(B)
// (K,N), plus beta C. Sums are in float32, or in float64 for float64 operands.
type Shape struct {
	M, N, K, Batches       int
	LDA, LDB, LDC, LDD     int // distance between columns
	A, B, C, D             int // distance between matrices, in elements
	TransposeA, TransposeB bool
	Factors, Results       Type   // type of A and B, and of C and D
	TF32                   bool   // float32 factors may be rounded to TF32
	Bias                   bool   // a vector of M elements of D's type is added to each column
	Align                  [4]int // alignment of the addresses of A, B, C, D in bytes, powers of 2
}

// Plan is the library's algorithm for a shape.
type Plan struct {
	plan      *C.lt_plan
	workspace int
	status    Status
}

// Workspace returns the bytes of scratch memory that a product needs.
func (p *Plan) Workspace() int { return p.workspace }

// room is the largest workspace, which Hopper needs.
const room = 32 << 20

// Compute types, cublasComputeType_t.
const (
	in32     = 68
	in64     = 70
	fastTF32 = 77
)

// Plan returns the plan for a shape and caches it. bias is the address of the bias vector, if the
// shape has one. The error is [NotSupported] if the library cannot compute the product.
func (h *Handle) Plan(s Shape, bias uintptr) (*Plan, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.plans[s]
	if p == nil {
		p = &Plan{}
		p.status = h.make(s, bias, p)
		if p.status == 0 || p.status == NotSupported || p.status == invalidValue {
			h.plans[s] = p // other failures may be temporary
		}
	}
	if p.status != 0 {
		return nil, p.status
	}
	return p, nil
}

func (h *Handle) make(s Shape, bias uintptr, p *Plan) Status {
	shape := C.lt_shape{
		m: C.int64_t(s.M), n: C.int64_t(s.N), k: C.int64_t(s.K), batches: C.int64_t(s.Batches),
		lda: C.int64_t(s.LDA), ldb: C.int64_t(s.LDB), ldc: C.int64_t(s.LDC), ldd: C.int64_t(s.LDD),
		stride_a: C.int64_t(s.A), stride_b: C.int64_t(s.B), stride_c: C.int64_t(s.C), stride_d: C.int64_t(s.D),
		transpose_a: flag(s.TransposeA), transpose_b: flag(s.TransposeB),
		type_ab: C.int(s.Factors), type_cd: C.int(s.Results), compute: in32, scale: C.int(Float32), bias: flag(s.Bias),
		align_a: C.int(s.Align[0]), align_b: C.int(s.Align[1]), align_c: C.int(s.Align[2]), align_d: C.int(s.Align[3]),
	}
	switch {
	case s.Factors == Float64:
		shape.compute, shape.scale = in64, C.int(Float64)
	case s.Factors == Float32 && s.TF32:
		shape.compute = fastTF32
	}
	var workspace C.size_t
	status := Status(C.lt_make(h.library, C.uintptr_t(h.context), h.handle, &shape, room, C.uintptr_t(bias), &p.plan, &workspace))
	p.workspace = int(workspace)
	return status
}

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// Operands are the GPU addresses of a product's operands and result. C is not read if beta is 0;
// it may be D.
type Operands struct{ A, B, C, D, Bias, Workspace uintptr }

// Run enqueues a product on a stream, a CUstream.
func (h *Handle) Run(p *Plan, o Operands, beta float64, stream uintptr) error {
	h.mu.Lock() // the bias is part of the plan
	defer h.mu.Unlock()
	s := Status(C.lt_run(h.library, C.uintptr_t(h.context), h.handle, p.plan, C.double(beta), C.uintptr_t(o.A), C.uintptr_t(o.B), C.uintptr_t(o.C), C.uintptr_t(o.D),
		C.uintptr_t(o.Bias), C.uintptr_t(o.Workspace), C.size_t(p.workspace), C.uintptr_t(stream)))
	if s != 0 {
		return fmt.Errorf("lt: cublasLtMatmul: %w", s)
	}
	return nil
}

// Status is a cublasStatus_t other than success.
type Status int

// Statuses of unsupported products.
const (
	NotSupported Status = 15
	invalidValue Status = 7
)

var statuses = map[Status]string{
	1: "not initialised", 3: "out of memory", 7: "invalid value", 8: "not for this GPU", 11: "memory is not mapped",
	13: "execution failed", 14: "internal error", 15: "not supported", 16: "licence error",
}

// Error returns the meaning of the status.
func (s Status) Error() string {
	if text := statuses[s]; text != "" {
		return text
	}
	return fmt.Sprintf("status %d", int(s))
}
