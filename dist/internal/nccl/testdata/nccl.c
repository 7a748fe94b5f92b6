// A library with the functions of NCCL that package nccl calls. It writes each call to a log, which the test reads.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct { char internal[128]; } ncclUniqueId;

static char text[1 << 16];
static int used, asynchronous, refused;

static void note(const char *format, ...) {
	va_list list;
	va_start(list, format);
	used += vsnprintf(text + used, sizeof text - used, format, list);
	va_end(list);
}

// fake_take copies the log to p and empties it. fake_fail sets the results of ncclCommGetAsyncError and of ncclSend.
int fake_take(char *p) { int n = used; memcpy(p, text, n); used = 0; return n; }
int fake_fail(int later, int now) { asynchronous = later; refused = now; return 0; }

int ncclGetVersion(int *version) { *version = 22703; return 0; }
int ncclGetUniqueId(ncclUniqueId *id) {
	for (int i = 0; i < 128; i++)
		id->internal[i] = i + 1;
	return 0;
}
int ncclCommInitRank(void **comm, int ranks, ncclUniqueId id, int rank) {
	int sum = 0;
	for (int i = 0; i < 128; i++)
		sum += (i + 1) * (unsigned char)id.internal[i];
	note("init %d of %d, id %d\n", rank, ranks, sum);
	*comm = text;
	return 0;
}
int ncclCommDestroy(void *comm) { note("destroy %d\n", comm == text); return 0; }
int ncclCommAbort(void *comm) { note("abort %d\n", comm == text); return 0; }
int ncclCommGetAsyncError(void *comm, int *result) { *result = asynchronous; return comm != text; }
int ncclGroupStart(void) { note("start\n"); return 0; }
int ncclGroupEnd(void) { note("end\n"); return 0; }
int ncclSend(const void *p, size_t n, int type, int peer, void *comm, void *stream) {
	note("send %zu of type %d to %d from %.1s on %d, stream %zu\n", n, type, peer, (const char *)p, comm == text, (size_t)stream);
	return refused;
}
int ncclRecv(void *p, size_t n, int type, int peer, void *comm, void *stream) {
	memset(p, 'a' + peer, n);
	note("receive %zu of type %d from %d on %d, stream %zu\n", n, type, peer, comm == text, (size_t)stream);
	return 0;
}
int ncclBroadcast(const void *from, void *to, size_t n, int type, int root, void *comm, void *stream) {
	note("broadcast %zu of type %d from %d of %.1s, in place %d, on %d, stream %zu\n", n, type, root, (const char *)from, from == to, comm == text, (size_t)stream);
	return 0;
}
