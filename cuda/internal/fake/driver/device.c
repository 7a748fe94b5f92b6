#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Hooks hooks;
uint64_t counters[COUNTERS];
struct Setting setting;
int initialized;
Device *devices;
__thread Context *current;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void enter(void) { pthread_mutex_lock(&lock); }

Result leave(Result r) {
	pthread_mutex_unlock(&lock);
	return r;
}

// For the test: the hooks of the interpreter, settings at run time, counters.
void fakecuda_join(Hooks *h) { hooks = *h; }
uint64_t fakecuda_counter(int i) { return __atomic_load_n(&counters[i], __ATOMIC_RELAXED); }

static uint64_t from_environment(const char *name, uint64_t otherwise) {
	const char *s = getenv(name);
	return s && *s ? strtoull(s, 0, 0) : otherwise;
}

void fakecuda_configure(void) {
	enter();
	setting.devices = from_environment("HALFNOTE_FAKE_DEVICES", 1);
	setting.memory = from_environment("HALFNOTE_FAKE_MEMORY", 1ull << 30);
	setting.capability = from_environment("HALFNOTE_FAKE_CAPABILITY", 90);
	setting.version = from_environment("HALFNOTE_FAKE_VERSION", 12060);
	setting.queue = from_environment("HALFNOTE_FAKE_QUEUE", 64);
	setting.fail_launch = from_environment("HALFNOTE_FAKE_FAIL_LAUNCH", 0);
	setting.fail_code = from_environment("HALFNOTE_FAKE_FAIL_CODE", LAUNCH_FAILED);
	setting.lost = from_environment("HALFNOTE_FAKE_LOST", 0);
	leave(OK);
}

Result cuInit(unsigned flags) {
	if (flags)
		return INVALID_VALUE;
	if (initialized)
		return OK;
	fakecuda_configure();
	if (!setting.devices)
		return NO_DEVICE;
	devices = calloc(setting.devices, sizeof *devices);
	for (int i = 0; i < setting.devices; i++) {
		devices[i].ordinal = i;
		devices[i].context.device = &devices[i];
		devices[i].legacy = calloc(1, sizeof(Stream));
		devices[i].legacy->device = &devices[i];
		devices[i].legacy->blocking = 1;
		devices[i].streams = devices[i].legacy;
	}
	initialized = 1;
	return OK;
}

Result cuDriverGetVersion(int *v) { *v = setting.version; return OK; }

#define DEVICE(d)                                               \
	if (!initialized) return NOT_INITIALIZED;               \
	if ((d) < 0 || (d) >= setting.devices) return INVALID_DEVICE

Result cuDeviceGetCount(int *n) {
	if (!initialized)
		return NOT_INITIALIZED;
	*n = setting.devices;
	return OK;
}

Result cuDeviceGet(int *d, int ordinal) { DEVICE(ordinal); *d = ordinal; return OK; }

Result cuDeviceGetName(char *s, int n, int d) {
	DEVICE(d);
	snprintf(s, n, "Fake H100 %d", d);
	return OK;
}

Result cuDeviceGetUuid(char *uuid, int d) {
	DEVICE(d);
	memset(uuid, d, 16);
	return OK;
}

Result cuDeviceTotalMem_v2(size_t *n, int d) { DEVICE(d); *n = setting.memory; return OK; }

// Attributes of an H100 SXM.
static const struct { int attribute, value; } attributes[] = {
	{1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, 0x7FFFFFFF}, {6, 65535}, {7, 65535}, // block and grid
	{8, 48 << 10}, {9, 64 << 10}, {10, 32}, {11, 0x7FFFFFFF}, {12, 65536}, {13, 1980000}, {14, 512},
	{15, 1}, {16, 132}, {17, 0}, {18, 0}, {19, 1}, {20, 0}, {31, 1}, {32, 0}, {33, 0}, {34, 0}, {35, 0},
	{36, 2619000}, {37, 5120}, {38, 50 << 20}, {39, 2048}, {40, 3}, {41, 1},
	{78, 1}, {79, 1}, {80, 1}, {81, 228 << 10}, {82, 65536}, {83, 1}, {84, 0}, {85, 0}, {86, 1}, {87, 2},
	{88, 1}, {89, 1}, {90, 1}, {91, 1}, {95, 1}, {96, 1}, {97, 227 << 10}, {100, 0}, {101, 0}, {106, 32},
	{108, 32 << 20}, {109, 134213632}, {111, 1024}, {115, 1}, {116, 1}, {119, 9},
};

Result cuDeviceGetAttribute(int *v, int a, int d) {
	DEVICE(d);
	if (a == 75 || a == 76) {
		*v = a == 75 ? setting.capability / 10 : setting.capability % 10;
		return OK;
	}
	for (unsigned i = 0; i < sizeof attributes / sizeof *attributes; i++)
		if (attributes[i].attribute == a) {
			*v = attributes[i].value;
			return OK;
		}
	return INVALID_VALUE;
}

Result cuDeviceCanAccessPeer(int *can, int d, int peer) {
	DEVICE(d);
	DEVICE(peer);
	*can = d != peer;
	return OK;
}

Result cuDeviceGetP2PAttribute(int *v, int a, int d, int peer) {
	DEVICE(d);
	DEVICE(peer);
	*v = a == 2; // access is supported, but no other attribute
	return OK;
}

// Contexts: primary ones only.

Result cuDevicePrimaryCtxRetain(Context **c, int d) {
	DEVICE(d);
	enter();
	devices[d].retained++;
	*c = &devices[d].context;
	return leave(OK);
}

Result cuDevicePrimaryCtxRelease_v2(int d) {
	DEVICE(d);
	enter();
	if (!devices[d].retained)
		return leave(INVALID_CONTEXT);
	devices[d].retained--;
	return leave(OK);
}

Result cuDevicePrimaryCtxGetState(int d, unsigned *flags, int *active) {
	DEVICE(d);
	*flags = 0;
	*active = devices[d].retained > 0;
	return OK;
}

static int is_context(Context *c) {
	for (int i = 0; i < setting.devices; i++)
		if (c == &devices[i].context)
			return devices[i].retained > 0;
	return 0;
}

Result cuCtxSetCurrent(Context *c) {
	if (!initialized)
		return NOT_INITIALIZED;
	if (c && !is_context(c))
		return INVALID_CONTEXT;
	current = c;
	return OK;
}

Result cuCtxGetCurrent(Context **c) { *c = current; return initialized ? OK : NOT_INITIALIZED; }
Result cuCtxGetDevice(int *d) { ENTER; *d = current->device->ordinal; return leave(OK); }
Result cuCtxGetApiVersion(Context *c, unsigned *v) { *v = setting.version; return OK; }
Result cuCtxGetStreamPriorityRange(int *least, int *greatest) { ENTER; *least = 0; *greatest = -5; return leave(OK); }

Result cuCtxEnablePeerAccess(Context *peer, unsigned flags) {
	ENTER;
	if (flags || !is_context(peer) || peer == current)
		return leave(INVALID_VALUE);
	uint64_t bit = 1ull << peer->device->ordinal;
	if (current->device->peers & bit)
		return leave(PEER_ACCESS_ALREADY);
	current->device->peers |= bit;
	return leave(OK);
}

Result cuCtxDisablePeerAccess(Context *peer) {
	ENTER;
	uint64_t bit = is_context(peer) ? 1ull << peer->device->ordinal : 0;
	if (!(current->device->peers & bit))
		return leave(PEER_ACCESS_NOT);
	current->device->peers &= ~bit;
	return leave(OK);
}

Result cuCtxSynchronize(void) {
	ENTER;
	counters[SYNCS]++;
	for (Stream *s = current->device->streams; s; s = s->next)
		if (s->graph) {
			s->graph->invalid = 1;
			return leave(CAPTURE_UNSUPPORTED);
		}
	return leave(drain_device(current->device));
}

// Names of results

static const struct { int code; const char *name, *text; } names[] = {
	{0, "CUDA_SUCCESS", "no error"},
	{1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
	{46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
	{100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	{101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	{200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
	{201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
	{214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
	{218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
	{222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
	{400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	{500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{600, "CUDA_ERROR_NOT_READY", "device not ready"},
	{700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
	{701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
	{704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
	{705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
	{713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "pointer does not correspond to a registered memory region"},
	{715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
	{716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
	{719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
	{801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
	{900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
	{901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
	{903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not initiated in this stream"},
	{904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
	{905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work in another stream"},
	{906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "operation would make the legacy stream depend on a capturing blocking stream"},
};

Result cuGetErrorName(int code, const char **s) {
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].code == code) {
			*s = names[i].name;
			return OK;
		}
	*s = 0;
	return INVALID_VALUE;
}

Result cuGetErrorString(int code, const char **s) {
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].code == code) {
			*s = names[i].text;
			return OK;
		}
	*s = 0;
	return INVALID_VALUE;
}
