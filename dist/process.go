package dist

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"halfnote/dist/internal/mpi"
	"halfnote/tensor/driver"
)

// Option configures InitProcessGroup.
type Option func(*settings)

type settings struct {
	timeout    time.Duration
	unverified bool
	pieceBytes int
	backend    string
	join       func(g *group, d driver.Sharer) (deviceComm, error) // nil without a library for devices
}

// Timeout sets how long a collective waits for the other ranks before it panics; 30 minutes by default, as in torch.
func Timeout(d time.Duration) Option { return func(s *settings) { s.timeout = d } }

// Unverified leaves out the check that all ranks call the same collective with the same sizes and dtypes, which costs a
// small message before each. Without the check a mismatch waits until the time limit, or gives wrong numbers. By
// default calls are checked. torch checks them with TORCH_DISTRIBUTED_DEBUG=DETAIL.
func Unverified() Option { return func(s *settings) { s.unverified = true } }

// world is the process group of this process.
var world struct {
	sync.Mutex
	g      *group
	failed error
}

// InitProcessGroup joins the ranks that mpiexec, srun or `halfnote run --ranks` has started, or makes a group of this process
// alone if nothing has. It loads the MPI library that the variable HALFNOTE_MPI names, or the one that belongs to the mpiexec in
// PATH, or one that the system's loader finds: any with the standard ABI of MPI 5, MPICH's or Open MPI's. A group of one needs
// no library. A second call does nothing while the group exists. It returns an error if there are several ranks but no
// library that works; other functions then panic with that error. It is torch.distributed.init_process_group.
func InitProcessGroup(options ...Option) error {
	world.Lock()
	defer world.Unlock()
	if world.g != nil {
		return nil
	}
	s := settings{timeout: 30 * time.Minute}
	for i, o := range options {
		if o == nil {
			return fmt.Errorf("dist: InitProcessGroup: option %d is nil; want a dist.Option", i+1)
		}
		o(&s)
	}
	if s.timeout <= 0 {
		return fmt.Errorf("dist: InitProcessGroup: the time limit is %v; want more than 0", s.timeout)
	}
	if err := s.connect(); err != nil {
		return fmt.Errorf("dist: InitProcessGroup: %w", err)
	}
	start := func() (mpi.Comm, mpi.Found, error) { return alone{}, mpi.Found{}, nil }
	if _, launched := mpi.Launched(); launched {
		start = mpi.Init
	}
	world.g, world.failed = newGroup(start, s)
	if world.failed != nil {
		world.failed = fmt.Errorf("dist: InitProcessGroup: %w", world.failed)
	}
	return world.failed
}

// DestroyProcessGroup leaves the group. All ranks call it, after their last collective. MPI cannot be initialised again
// in the same process. Without a group it does nothing. It is torch.distributed.destroy_process_group.
func DestroyProcessGroup() error {
	world.Lock()
	defer world.Unlock()
	if world.g == nil {
		return nil
	}
	err := world.g.close()
	world.g = nil
	return err
}

// IsInitialized reports whether there is a process group. It is torch.distributed.is_initialized.
func IsInitialized() bool {
	world.Lock()
	defer world.Unlock()
	return world.g != nil
}

// member returns the process group, for a function called name.
func member(name string) *group {
	world.Lock()
	defer world.Unlock()
	if world.g == nil {
		why := "there is no process group"
		if world.failed != nil {
			why = world.failed.Error()
		}
		panic(&Error{Code: "not_initialized", Call: name, Why: why, Cure: "call dist.InitProcessGroup first", Err: world.failed})
	}
	return world.g
}

// Rank returns the number of this process, from 0 to WorldSize()-1. It panics without a process group. It is
// torch.distributed.get_rank.
func Rank() int { return member("Rank").rank }

// WorldSize returns the number of processes. It panics without a process group. It is torch.distributed.get_world_size.
func WorldSize() int { return member("WorldSize").size }

// Library describes the MPI library in use, for example "libmpi.so.40 (Open MPI ABI)"; "" in a group of one without MPI.
func Library() string { return member("Library").library }

// Abandon drops the collectives that an interrupt has left unfinished, on all ranks: every rank must call it, also one that
// was not in a collective. Programs that run user code, and go on after an interrupt, call it. Without a group it does nothing.
func Abandon() error {
	world.Lock()
	g := world.g
	world.Unlock()
	if g == nil {
		return nil
	}
	return g.abandon()
}

// MPI is an MPI library on this machine.
type MPI struct {
	Path string // file
	ABI  string // binary interface, for example "Open MPI ABI"
}

// Libraries returns the MPI libraries that InitProcessGroup would try, in order. It initialises none of them.
func Libraries() (list []MPI) {
	for _, f := range mpi.Look() {
		list = append(list, MPI(f))
	}
	return list
}

// alone is the communicator of one rank without MPI.
type alone struct{}

type done struct{}

func (done) Done() (bool, error) { return true, nil }

func (alone) Rank() int { return 0 }
func (alone) Size() int { return 1 }
func (alone) Alltoall([]byte, []mpi.Part, []byte, []mpi.Part) (mpi.Request, error) {
	return done{}, nil
}
func (alone) Allgather([]byte, []mpi.Part) (mpi.Request, error) { return done{}, nil }
func (alone) Broadcast([]byte, int) (mpi.Request, error)        { return done{}, nil }
func (alone) Barrier() (mpi.Request, error)                     { return done{}, nil }
func (alone) Abandon() error                                    { return nil }
func (alone) Close() error                                      { return nil }

// serve runs on the thread that owns MPI: it starts the library and then runs one collective after another.
func serve(start func() (mpi.Comm, mpi.Found, error), g *group, ready chan<- error) {
	runtime.LockOSThread()
	comm, found, err := start()
	if err == nil {
		g.comm, g.rank, g.size = comm, comm.Rank(), comm.Size()
		if c, ok := comm.(mpi.DeviceAware); ok {
			g.aware = c.DeviceAware()
		}
		if found.Path != "" {
			g.library = fmt.Sprintf("%s (%s)", found.Path, found.ABI)
		}
	}
	ready <- err
	if err != nil {
		return
	}
	for w := range g.queue {
		w.run(g)
	}
}
