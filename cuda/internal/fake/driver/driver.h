// A CUDA driver on the CPU, for tests. It is strict: memory is poisoned and
// bounds-checked, contexts are current per thread, streams run work only when a call
// waits for it, and errors of kernels are sticky.
//
// Codes, attributes and prototypes are those of the CUDA Driver API's public
// documentation.
//
// Environment, read by cuInit:
//
//	HALFNOTE_FAKE_DEVICES      number of devices, default 1; 0 is CUDA_ERROR_NO_DEVICE
//	HALFNOTE_FAKE_MEMORY       bytes of each device, default 1 GiB
//	HALFNOTE_FAKE_CAPABILITY   compute capability times 10, default 90
//	HALFNOTE_FAKE_VERSION      driver version, default 12060
//	HALFNOTE_FAKE_QUEUE        queue length of a stream, default 64; 0 runs operations at once
//	HALFNOTE_FAKE_FAIL_LAUNCH  number of the launch that fails
//	HALFNOTE_FAKE_FAIL_CODE    CUresult of that launch, default 719
//	HALFNOTE_FAKE_LOST         1: every call that needs a context is CUDA_ERROR_DEVICE_UNAVAILABLE

#include <pthread.h>

#include "join.h"

extern Hooks hooks;
extern uint64_t counters[COUNTERS];

typedef struct Device Device;
typedef struct Context Context;
typedef struct Stream Stream;
typedef struct Event Event;
typedef struct Graph Graph;
typedef struct Exec Exec;
typedef struct Module Module;
typedef struct Function Function;
typedef struct Op Op;

struct Context {
	Device *device;
	int sticky;
};

struct Device {
	Context context;
	int ordinal, retained;
	uint64_t used;
	Range *ranges; // memory ranges, by address
	int nranges, room;
	Stream *streams; // all streams, the legacy one last
	Stream *legacy;
	uint64_t peers; // devices whose memory kernels of this device may access
};

struct Stream {
	Device *device;
	Stream *next;
	int blocking, priority, queries;
	Op *first, *last; // pending operations
	int length;
	// During a capture:
	Graph *graph;
	pthread_t thread; // thread that began the capture
	int origin, mode, dirty; // dirty: has work that the origin does not wait for
	uint64_t mark;           // number of operations captured on this stream
	int running;
};

struct Event {
	Device *device;
	Stream *stream; // stream of the last record
	uint64_t recorded, done;
	double time;
	int timing, refs, queries;
	Graph *graph; // graph of the last record
	Stream *captured;
	uint64_t mark;
};

typedef enum { KERNEL, COPY, FILL, RECORD, WAIT, GRAPH, HOST } Kind;

// Op is an operation of a stream or a node of a graph.
struct Op {
	Op *next;
	Kind kind;
	Function *function;
	unsigned shape[6], shared, most;
	Ptr dst, src;
	int dst_device, src_device; // device that must own the memory, -1: the host
	size_t n;
	uint32_t value;
	int width;
	Event *event;
	uint64_t stamp;
	Exec *exec;
	Result (*run)(void *data);
	int bytes;
	char data[]; // parameters, or the data passed to run
};

struct Graph {
	Op *first, *last;
	int nodes, invalid, refs;
	uint64_t id;
};

struct Exec {
	Graph *graph;
	int refs;
	Device *device;
};

struct Module {
	int id;
	Device *device;
	Function *functions;
};

struct Function {
	Function *next;
	Module *module;
	Layout layout;
	int most; // limit of dynamic shared memory
	char name[];
};

struct Setting {
	int devices, capability, version, queue, fail_launch, fail_code, lost;
	uint64_t memory;
};
extern struct Setting setting;
extern int initialized;
extern Device *devices;
extern __thread Context *current;

// One lock for everything: calls of several threads are serialised.
extern pthread_mutex_t lock;
void enter(void);
Result leave(Result r);

// ENTER starts a call that needs a context.
#define ENTER                                                  \
	enter();                                               \
	if (!initialized) return leave(NOT_INITIALIZED);       \
	if (setting.lost) return leave(46);                    \
	if (!current) return leave(INVALID_CONTEXT);           \
	if (current->sticky) return leave(current->sticky)

// STREAM starts a call that needs a stream.
#define STREAM(h)                             \
	ENTER;                                \
	Stream *s = find_stream(h);           \
	if (!s) return leave(INVALID_HANDLE)

int owner(Ptr p, size_t n);            // device that owns n bytes at p, -1 for none
int pinned(const void *p, size_t n);   // whether the memory is page-locked

Result drain(Stream *s);               // runs all operations of the stream
Result drain_device(Device *d);
Result enqueue(Stream *s, Op *op);
Result step(Stream *s);                // runs the first operation
Result drain_until(Event *e, uint64_t stamp);
void event_release(Event *e);
Result run_op(Stream *s, Op *op);
Op *new_op(Kind kind, const void *data, int bytes);
void free_op(Op *op);
Stream *find_stream(uintptr_t s);
Result capture_forbids(Stream *s);     // for calls that would wait for s
Result capturing_strictly(void);       // for calls that are unsafe while any stream of the context is captured
void exec_release(Exec *x);
int is_function(Function *f);
