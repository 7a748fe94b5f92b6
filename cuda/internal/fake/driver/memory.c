#include "driver.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 512, GUARD_BYTE = 0xFD, FRESH = 0xFF, STALE = 0xDD };

// at returns the index at which a range containing p would be, -1 if p is below all ranges.
static int at(Device *d, Ptr p) {
	int lo = 0, hi = d->nranges;
	while (lo < hi) {
		int mid = (lo + hi) / 2;
		if (d->ranges[mid].at <= p)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - 1;
}

static int inside(Device *d, Ptr p, size_t n) {
	int i = at(d, p);
	return i >= 0 && p + n <= d->ranges[i].at + d->ranges[i].size && p + n >= p;
}

int owner(Ptr p, size_t n) {
	for (int i = 0; i < setting.devices; i++)
		if (inside(&devices[i], p, n))
			return i;
	return -1;
}

// fakecuda_valid reports whether n bytes at p are memory of a device.
int fakecuda_valid(Ptr p, size_t n) { return owner(p, n) >= 0; }

static size_t padded(size_t n) { return (n + 511) / 512 * 512; }

Result cuMemAlloc_v2(Ptr *p, size_t n) {
	ENTER;
	Device *d = current->device;
	if (!n)
		return leave(INVALID_VALUE);
	Result r = capturing_strictly();
	if (r)
		return leave(r);
	char *m = 0;
	if (padded(n) < n || d->used + padded(n) > setting.memory || posix_memalign((void **)&m, 512, padded(n) + 2 * GUARD))
		return leave(OUT_OF_MEMORY);
	memset(m, GUARD_BYTE, GUARD);
	memset(m + GUARD, FRESH, n); // NaN, to expose reads of uninitialised memory
	memset(m + GUARD + n, GUARD_BYTE, padded(n) - n + GUARD);
	if (d->nranges == d->room) {
		d->room = d->room ? 2 * d->room : 64;
		d->ranges = realloc(d->ranges, d->room * sizeof *d->ranges);
	}
	*p = (Ptr)m + GUARD;
	int i = at(d, *p) + 1;
	memmove(&d->ranges[i + 1], &d->ranges[i], (d->nranges - i) * sizeof *d->ranges);
	d->ranges[i] = (Range){*p, n};
	d->nranges++;
	d->used += padded(n);
	counters[ALLOCS]++;
	return leave(OK);
}

// cuMemFree waits for the device, and detects writes beyond the end.
Result cuMemFree_v2(Ptr p) {
	ENTER;
	if (!p)
		return leave(OK);
	Device *d = current->device;
	int i = at(d, p);
	if (i < 0 || d->ranges[i].at != p)
		return leave(INVALID_VALUE);
	Result r = capturing_strictly();
	if (!r)
		r = drain_device(d);
	if (r)
		return leave(r);
	size_t n = d->ranges[i].size;
	char *m = (char *)p - GUARD;
	for (size_t k = 0; k < GUARD; k++)
		if ((unsigned char)m[k] != GUARD_BYTE || (unsigned char)m[GUARD + n + k] != GUARD_BYTE)
			return leave(d->context.sticky = ILLEGAL_ADDRESS);
	memset(m, STALE, padded(n) + 2 * GUARD);
	free(m);
	d->used -= padded(n);
	d->nranges--;
	memmove(&d->ranges[i], &d->ranges[i + 1], (d->nranges - i) * sizeof *d->ranges);
	counters[FREES]++;
	return leave(OK);
}

Result cuMemGetInfo_v2(size_t *free, size_t *total) {
	ENTER;
	*total = setting.memory;
	*free = setting.memory - current->device->used;
	return leave(OK);
}

Result cuMemGetAddressRange_v2(Ptr *base, size_t *n, Ptr p) {
	ENTER;
	Device *d = current->device;
	int i = at(d, p);
	if (!inside(d, p, 1))
		return leave(NOT_FOUND);
	*base = d->ranges[i].at;
	*n = d->ranges[i].size;
	return leave(OK);
}

// Page-locked host memory.

static struct Page { char *p; size_t n; struct Page *next; } *pages;

int pinned(const void *p, size_t n) {
	for (struct Page *g = pages; g; g = g->next)
		if ((char *)p >= g->p && (char *)p + n <= g->p + g->n)
			return 1;
	return 0;
}

Result cuMemHostAlloc(void **p, size_t n, unsigned flags) {
	ENTER;
	Result r = capturing_strictly();
	if (r)
		return leave(r);
	if (!n)
		return leave(INVALID_VALUE);
	char *m;
	if (posix_memalign((void **)&m, 4096, n))
		return leave(OUT_OF_MEMORY);
	memset(m, FRESH, n);
	struct Page *g = malloc(sizeof *g);
	*g = (struct Page){m, n, pages};
	pages = g;
	*p = m;
	counters[PINNED_ALLOCS]++;
	return leave(OK);
}

Result cuMemFreeHost(void *p) {
	ENTER;
	for (struct Page **g = &pages; *g; g = &(*g)->next)
		if ((*g)->p == p) {
			for (int i = 0; i < setting.devices; i++) {
				Result r = drain_device(&devices[i]);
				if (r)
					return leave(r);
			}
			struct Page *gone = *g;
			*g = gone->next;
			memset(p, STALE, gone->n);
			free(p);
			free(gone);
			return leave(OK);
		}
	return leave(INVALID_VALUE);
}

// Copies

static Result copy(uintptr_t stream, Ptr dst, int to, Ptr src, int from, size_t n, int wait) {
	Stream *s = find_stream(stream);
	if (!s)
		return INVALID_HANDLE;
	if (!n)
		return OK;
	if (to >= 0 && !inside(&devices[to], dst, n) || from >= 0 && !inside(&devices[from], src, n))
		return INVALID_VALUE;
	const void *host = (void *)(to < 0 ? dst : src);
	int pageable = (to < 0 || from < 0) && !pinned(host, n);
	Op *op = new_op(COPY, 0, 0);
	op->dst = dst, op->src = src, op->n = n, op->dst_device = to, op->src_device = from;
	counters[COPIES]++;
	if (!wait && !pageable)
		return enqueue(s, op);
	// Pageable memory is read or written before the call returns, so the call waits.
	Result r = capture_forbids(s);
	if (r) {
		free_op(op);
		return r;
	}
	counters[SYNCS]++;
	r = enqueue(s, op);
	return r ? r : drain(s);
}

static int here(void) { return current->device->ordinal; }

// anywhere returns the device that owns the memory, as unified addressing finds it.
static int anywhere(Ptr p, size_t n) { return owner(p, n); }

Result cuMemcpyHtoD_v2(Ptr dst, const void *src, size_t n) { ENTER; return leave(copy(0, dst, here(), (Ptr)src, -1, n, 1)); }
Result cuMemcpyDtoH_v2(void *dst, Ptr src, size_t n) { ENTER; return leave(copy(0, (Ptr)dst, -1, src, here(), n, 1)); }
Result cuMemcpyDtoD_v2(Ptr dst, Ptr src, size_t n) { ENTER; return leave(copy(0, dst, here(), src, here(), n, 0)); }
Result cuMemcpyHtoDAsync_v2(Ptr dst, const void *src, size_t n, uintptr_t s) { ENTER; return leave(copy(s, dst, here(), (Ptr)src, -1, n, 0)); }
Result cuMemcpyDtoHAsync_v2(void *dst, Ptr src, size_t n, uintptr_t s) { ENTER; return leave(copy(s, (Ptr)dst, -1, src, here(), n, 0)); }
Result cuMemcpyDtoDAsync_v2(Ptr dst, Ptr src, size_t n, uintptr_t s) { ENTER; return leave(copy(s, dst, here(), src, here(), n, 0)); }
Result cuMemcpy(Ptr dst, Ptr src, size_t n) { ENTER; return leave(copy(0, dst, anywhere(dst, n), src, anywhere(src, n), n, 1)); }
Result cuMemcpyAsync(Ptr dst, Ptr src, size_t n, uintptr_t s) { ENTER; return leave(copy(s, dst, anywhere(dst, n), src, anywhere(src, n), n, 0)); }

Result cuMemcpyPeerAsync(Ptr dst, Context *to, Ptr src, Context *from, size_t n, uintptr_t s) {
	ENTER;
	return leave(copy(s, dst, to->device->ordinal, src, from->device->ordinal, n, 0));
}

Result cuMemcpyPeer(Ptr dst, Context *to, Ptr src, Context *from, size_t n) {
	ENTER;
	return leave(copy(0, dst, to->device->ordinal, src, from->device->ordinal, n, 1));
}

// Fills

static Result fill(uintptr_t stream, Ptr dst, uint32_t value, int width, size_t n) {
	Stream *s = find_stream(stream);
	if (!s)
		return INVALID_HANDLE;
	if (!n)
		return OK;
	if (dst % width || n * width / width != n || !inside(current->device, dst, n * width))
		return INVALID_VALUE;
	Op *op = new_op(FILL, 0, 0);
	op->dst = dst, op->value = value, op->width = width, op->n = n;
	return enqueue(s, op);
}

Result cuMemsetD8_v2(Ptr p, unsigned char v, size_t n) { ENTER; return leave(fill(0, p, v, 1, n)); }
Result cuMemsetD16_v2(Ptr p, unsigned short v, size_t n) { ENTER; return leave(fill(0, p, v, 2, n)); }
Result cuMemsetD32_v2(Ptr p, unsigned v, size_t n) { ENTER; return leave(fill(0, p, v, 4, n)); }
Result cuMemsetD8Async(Ptr p, unsigned char v, size_t n, uintptr_t s) { ENTER; return leave(fill(s, p, v, 1, n)); }
Result cuMemsetD16Async(Ptr p, unsigned short v, size_t n, uintptr_t s) { ENTER; return leave(fill(s, p, v, 2, n)); }
Result cuMemsetD32Async(Ptr p, unsigned v, size_t n, uintptr_t s) { ENTER; return leave(fill(s, p, v, 4, n)); }
