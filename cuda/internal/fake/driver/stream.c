#include "driver.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// Streams run no work on their own: operations stay queued until a call waits for the stream,
// queries it a second time, or the queue is full.

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

Op *new_op(Kind kind, const void *data, int bytes) {
	Op *op = calloc(1, sizeof *op + bytes);
	op->kind = kind;
	op->bytes = bytes;
	if (bytes)
		memcpy(op->data, data, bytes);
	return op;
}

void event_release(Event *e) {
	if (--e->refs == 0)
		free(e);
}

void free_op(Op *op) {
	if (op->event)
		event_release(op->event);
	if (op->exec)
		exec_release(op->exec);
	free(op);
}

// find_stream returns the stream of a handle: 0 and 1 are the legacy stream, 2 is the calling
// thread's, which is the same stream here.
Stream *find_stream(uintptr_t h) {
	if (h <= 2)
		return current->device->legacy;
	for (Stream *s = current->device->streams; s; s = s->next)
		if (s == (Stream *)h)
			return s;
	return 0;
}

static Result run_kernel(Stream *s, Op *op) {
	Function *f = op->function;
	Device *d = s->device;
	if (op->value) // fault requested by a test
		return op->value;
	if (!hooks.launch)
		return NOT_SUPPORTED;
	Range *ranges = d->ranges;
	int n = d->nranges;
	if (d->peers) {
		for (int i = 0; i < setting.devices; i++)
			if (d->peers >> i & 1)
				n += devices[i].nranges;
		ranges = malloc(n * sizeof *ranges);
		memcpy(ranges, d->ranges, d->nranges * sizeof *ranges);
		int at = d->nranges;
		for (int i = 0; i < setting.devices; i++)
			if (d->peers >> i & 1) {
				memcpy(ranges + at, devices[i].ranges, devices[i].nranges * sizeof *ranges);
				at += devices[i].nranges;
			}
	}
	Result r = hooks.launch(f->layout.id, op->shape, op->shared, op->most, op->data, op->bytes, ranges, n);
	if (ranges != d->ranges)
		free(ranges);
	return r;
}

Result run_op(Stream *s, Op *op) {
	counters[RUNS]++;
	switch (op->kind) {
	case KERNEL:
		return run_kernel(s, op);
	case COPY:
		if (op->dst_device >= 0 && owner(op->dst, op->n) != op->dst_device || op->src_device >= 0 && owner(op->src, op->n) != op->src_device)
			return ILLEGAL_ADDRESS;
		memmove((void *)op->dst, (void *)op->src, op->n);
		return OK;
	case FILL:
		if (owner(op->dst, op->n * op->width) < 0)
			return ILLEGAL_ADDRESS;
		for (size_t i = 0; i < op->n; i++)
			memcpy((char *)op->dst + i * op->width, &op->value, op->width);
		return OK;
	case RECORD:
		if (op->stamp > op->event->done)
			op->event->done = op->stamp;
		op->event->time = now();
		return OK;
	case WAIT:
		return drain_until(op->event, op->stamp);
	case GRAPH: {
		Result r = OK;
		for (Op *node = op->exec->graph->first; node && !r; node = node->next)
			r = run_op(s, node);
		return r;
	}
	case HOST:
		return op->run(op->data);
	}
	return OK;
}

// step runs the first operation of a stream. An error is sticky.
Result step(Stream *s) {
	Op *op = s->first;
	s->first = op->next;
	if (!s->first)
		s->last = 0;
	s->length--;
	Result r = s->device->context.sticky;
	if (!r) {
		s->running = 1;
		r = run_op(s, op);
		s->running = 0;
		if (r)
			s->device->context.sticky = r;
	}
	free_op(op);
	return r;
}

Result drain(Stream *s) {
	if (s->device->context.sticky)
		return s->device->context.sticky;
	// The legacy stream waits for its device's other streams, except non-blocking ones.
	if (s == s->device->legacy)
		for (Stream *o = s->device->streams; o; o = o->next)
			if (o != s && o->blocking && !o->graph && !o->running)
				while (o->first) {
					Result r = step(o);
					if (r)
						return r;
				}
	while (s->first) {
		Result r = step(s);
		if (r)
			return r;
	}
	return s->device->context.sticky;
}

Result drain_device(Device *d) {
	for (Stream *s = d->streams; s; s = s->next) {
		if (s->graph || s->running)
			continue;
		Result r = drain(s);
		if (r)
			return r;
	}
	return d->context.sticky;
}

Result drain_until(Event *e, uint64_t stamp) {
	while (e->done < stamp) {
		Stream *s = e->stream;
		if (!s || !s->first || s->running)
			return OK; // recorded on a destroyed stream, whose work is done
		Result r = step(s);
		if (r)
			return r;
	}
	return OK;
}

// enqueue adds an operation to a stream, or to the graph during a capture.
Result enqueue(Stream *s, Op *op) {
	if (s->graph) {
		if (s->graph->invalid) {
			free_op(op);
			return CAPTURE_INVALIDATED;
		}
		Graph *g = s->graph;
		if (g->last)
			g->last->next = op;
		else
			g->first = op;
		g->last = op;
		g->nodes++;
		s->mark++;
		s->dirty = !s->origin;
		return OK;
	}
	if (s->blocking) // the legacy stream and blocking streams wait for each other
		for (Stream *o = s->device->streams; o; o = o->next)
			if (o != s && o->blocking && (o == s->device->legacy || s == s->device->legacy)) {
				if (o->graph) {
					o->graph->invalid = 1;
					free_op(op);
					return CAPTURE_IMPLICIT;
				}
				while (o->first) {
					Result r = step(o);
					if (r) {
						free_op(op);
						return r;
					}
				}
			}
	if (s->last)
		s->last->next = op;
	else
		s->first = op;
	s->last = op;
	s->length++;
	s->queries = 0;
	Result r = OK;
	while (s->length > setting.queue && !r)
		r = step(s);
	return r;
}

// fakecuda_enqueue is for libraries: run is called with a copy of the data, in the stream's
// order.
Result fakecuda_enqueue(uintptr_t stream, Result (*run)(void *), const void *data, int bytes) {
	ENTER;
	Stream *s = find_stream(stream);
	if (!s)
		return leave(INVALID_HANDLE);
	Op *op = new_op(HOST, data, bytes);
	op->run = run;
	counters[LAUNCHES]++;
	return leave(enqueue(s, op));
}

Result cuStreamCreateWithPriority(Stream **out, unsigned flags, int priority) {
	ENTER;
	if (flags > 1)
		return leave(INVALID_VALUE);
	Stream *s = calloc(1, sizeof *s);
	s->device = current->device;
	s->blocking = !(flags & 1);
	s->priority = priority;
	s->next = current->device->streams;
	current->device->streams = s;
	*out = s;
	return leave(OK);
}

Result cuStreamCreate(Stream **out, unsigned flags) { return cuStreamCreateWithPriority(out, flags, 0); }

// A destroyed stream first finishes its work.
Result cuStreamDestroy_v2(uintptr_t h) {
	STREAM(h);
	if (s == s->device->legacy)
		return leave(INVALID_HANDLE);
	if (s->graph)
		return leave(CAPTURE_UNSUPPORTED);
	Result r = drain(s);
	Stream **p = &s->device->streams;
	while (*p != s)
		p = &(*p)->next;
	*p = s->next;
	memset(s, 0xDD, sizeof *s);
	// The stream's memory is kept: events may point to it.
	s->first = 0;
	return leave(r);
}

Result cuStreamGetFlags(uintptr_t h, unsigned *flags) { STREAM(h); *flags = !s->blocking; return leave(OK); }
Result cuStreamGetPriority(uintptr_t h, int *p) { STREAM(h); *p = s->priority; return leave(OK); }

Result cuStreamSynchronize(uintptr_t h) {
	STREAM(h);
	counters[SYNCS]++;
	Result r = capture_forbids(s);
	return leave(r ? r : drain(s));
}

Result cuStreamQuery(uintptr_t h) {
	STREAM(h);
	Result r = capture_forbids(s);
	if (r)
		return leave(r);
	if (s->first && ++s->queries < 2)
		return leave(NOT_READY);
	counters[SYNCS] += s->queries > 1;
	s->queries = 0;
	return leave(drain(s));
}
