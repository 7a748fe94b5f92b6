package mpi

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"unsafe"
)

// comm is a communicator of a loaded library.
type comm struct {
	lib    library
	abi    abi
	f      map[string]uintptr
	handle uintptr
	spare  []uintptr // further communicators of the same ranks
	rank   int
	size   int
	left   []*request // abandoned; the library may still write to their memory
}

// functions lists the functions that this package calls.
var functions = []string{
	"MPI_Init_thread", "MPI_Finalize", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Comm_dup", "MPI_Comm_set_errhandler",
	"MPI_Error_string", "MPI_Ialltoallv", "MPI_Iallgatherv", "MPI_Ibcast", "MPI_Ibarrier", "MPI_Allreduce", "MPI_Test",
}

// spares is the number of times that collectives can be abandoned.
const spares = 32

// Launched returns the number of ranks that a launcher of MPI has started, and whether one has. It reads the variables that
// Hydra (MPICH and Intel MPI), Open MPI and Slurm set. A number of 0 is unknown.
func Launched() (ranks int, yes bool) {
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"} {
		if text := os.Getenv(name); text != "" {
			n, _ := strconv.Atoi(text)
			return n, true
		}
	}
	for _, name := range []string{"PMIX_RANK", "PMI_RANK", "PMIX_NAMESPACE"} {
		if os.Getenv(name) != "" {
			n, _ := strconv.Atoi(os.Getenv("SLURM_NTASKS"))
			return n, true
		}
	}
	return 0, false
}

// Init loads an MPI library, initialises it and returns all its ranks. The calling goroutine must be locked to its thread and
// make all later calls.
func Init() (Comm, Found, error) {
	kept := holdSignals()
	defer kept.restore()
	lib, found, a, err := load()
	if err != nil {
		return nil, found, err
	}
	c, err := start(lib, a)
	if err != nil {
		return nil, found, fmt.Errorf("%s (%s): %w", found.Path, found.ABI, err)
	}
	if ranks, _ := Launched(); ranks > 1 && c.size == 1 {
		return nil, found, fmt.Errorf("the launcher started %d ranks, but %s (%s) counts 1; start the program with the mpiexec of that library, or name the launcher's library in HALFNOTE_MPI", ranks, found.Path, found.ABI)
	}
	return c, found, nil
}

// start initialises a loaded library.
func start(lib library, a abi) (*comm, error) {
	c := &comm{lib: lib, abi: a, f: map[string]uintptr{}, handle: a.world}
	for _, name := range functions {
		if c.f[name] = lib.symbol(name); c.f[name] == 0 {
			return nil, fmt.Errorf("there is no function %s; want MPI 3.0 or newer", name)
		}
	}
	var provided, rank, size int32
	if err := c.call("MPI_Init_thread", 0, 0, a.serialized, uintptr(unsafe.Pointer(&provided))); err != nil {
		return nil, err
	}
	if err := c.call("MPI_Comm_set_errhandler", c.handle, a.errorsReturn); err != nil {
		return nil, err
	}
	if err := c.call("MPI_Comm_rank", c.handle, uintptr(unsafe.Pointer(&rank))); err != nil {
		return nil, err
	}
	if err := c.call("MPI_Comm_size", c.handle, uintptr(unsafe.Pointer(&size))); err != nil {
		return nil, err
	}
	c.rank, c.size = int(rank), int(size)
	for range spares {
		var h uintptr
		if err := c.call("MPI_Comm_dup", c.handle, uintptr(unsafe.Pointer(&h))); err != nil {
			return nil, err
		}
		if err := c.call("MPI_Comm_set_errhandler", h, a.errorsReturn); err != nil {
			return nil, err
		}
		c.spare = append(c.spare, h)
	}
	return c, nil
}

func (c *comm) Rank() int { return c.rank }
func (c *comm) Size() int { return c.size }

// call calls a function of the library and turns its result into an error.
//
//go:uintptrescapes
func (c *comm) call(name string, args ...uintptr) error {
	code := c.lib.call(c.f[name], args...)
	if code == 0 {
		return nil
	}
	text, n := make([]byte, 8192), int32(0)
	c.lib.call(c.f["MPI_Error_string"], uintptr(code), uintptr(unsafe.Pointer(&text[0])), uintptr(unsafe.Pointer(&n)))
	return fmt.Errorf("%s: %s", name, text[:max(0, min(int(n), len(text)))])
}

// request is an operation in flight. It keeps the memory of its arguments alive.
type request struct {
	c      *comm
	name   string
	handle uintptr
	status [16]int64
	keep   []any
}

// begin starts a nonblocking operation; arguments lists all but the request.
func (c *comm) begin(name string, keep []any, args ...uintptr) (Request, error) {
	r := &request{c: c, name: name, keep: keep}
	if err := c.call(name, append(args, uintptr(unsafe.Pointer(&r.handle)))...); err != nil {
		return nil, err
	}
	c.left = append(c.left, r)
	return r, nil
}

// Done implements [Request].
func (r *request) Done() (bool, error) {
	var flag int32
	if err := r.c.call("MPI_Test", uintptr(unsafe.Pointer(&r.handle)), uintptr(unsafe.Pointer(&flag)), uintptr(unsafe.Pointer(&r.status))); err != nil {
		return false, fmt.Errorf("%s: %w", r.name, err)
	}
	if flag != 0 {
		for i, x := range r.c.left {
			if x == r {
				r.c.left = append(r.c.left[:i], r.c.left[i+1:]...)
				break
			}
		}
	}
	return flag != 0, nil
}

// layout returns the counts and displacements of parts, as MPI's functions take them. With skip, that part is empty.
func layout(parts []Part, skip int) (counts, at []int32, err error) {
	counts, at = make([]int32, len(parts)), make([]int32, len(parts))
	for i, p := range parts {
		if p.At > math.MaxInt32 || p.Len > math.MaxInt32 {
			return nil, nil, fmt.Errorf("part %d has %d bytes at %d; want at most %d", i, p.Len, p.At, math.MaxInt32)
		}
		if i != skip {
			counts[i], at[i] = int32(p.Len), int32(p.At)
		}
	}
	return counts, at, nil
}

func first[T any](list []T) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(list))) }

func (c *comm) Alltoall(from []byte, send []Part, into []byte, recv []Part) (Request, error) {
	sent, sentAt, err := layout(send, c.rank)
	if err != nil {
		return nil, err
	}
	got, gotAt, err := layout(recv, c.rank)
	if err != nil {
		return nil, err
	}
	return c.begin("MPI_Ialltoallv", []any{from, sent, sentAt, into, got, gotAt},
		first(from), first(sent), first(sentAt), c.abi.byteType, first(into), first(got), first(gotAt), c.abi.byteType, c.handle)
}

func (c *comm) Allgather(p []byte, parts []Part) (Request, error) {
	counts, at, err := layout(parts, -1)
	if err != nil {
		return nil, err
	}
	return c.begin("MPI_Iallgatherv", []any{p, counts, at}, c.abi.inPlace, 0, c.abi.byteType, first(p), first(counts), first(at), c.abi.byteType, c.handle)
}

func (c *comm) Broadcast(p []byte, root int) (Request, error) {
	if len(p) > math.MaxInt32 {
		return nil, fmt.Errorf("MPI_Ibcast of %d bytes; want at most %d", len(p), math.MaxInt32)
	}
	return c.begin("MPI_Ibcast", []any{p}, first(p), uintptr(len(p)), c.abi.byteType, uintptr(root), c.handle)
}

func (c *comm) Barrier() (Request, error) { return c.begin("MPI_Ibarrier", nil, c.handle) }

// Sum sets into to the library's sum of the ranks' float32 elements of from, for comparisons of speed: its bits depend on the
// library. It is MPI_Allreduce, which returns when it is done.
func (c *comm) Sum(from, into []byte) error {
	return c.call("MPI_Allreduce", first(from), first(into), uintptr(len(from)/4), c.abi.float, c.abi.sum, c.handle)
}

func (c *comm) Abandon() error {
	if len(c.spare) == 0 {
		return fmt.Errorf("collectives were interrupted %d times; restart the ranks", spares)
	}
	c.handle, c.spare = c.spare[0], c.spare[1:]
	return nil
}

// Close finalises the library. With abandoned operations MPI_Finalize would wait for other ranks for ever, so it is not called.
func (c *comm) Close() error {
	if len(c.left) > 0 {
		return nil
	}
	if err := c.call("MPI_Finalize"); err != nil {
		return err
	}
	// MPICH signs off from its launcher in a function for atexit, which a program in Go does not run when it ends. The launcher
	// would take the end of the first rank for a fault and kill the others.
	if libc := program(); libc != nil && c.abi.name != openMPI.name {
		if f := libc.symbol("__cxa_finalize"); f != 0 {
			libc.call(f, 0)
		}
	}
	return nil
}
