#include "driver.h"

#include <stdlib.h>

// Graphs are made by capture only: a list in call order, which is one of the orders that the
// streams and events allow.

static uint64_t graphs;

Result capture_forbids(Stream *s) {
	if (s->graph) {
		s->graph->invalid = 1;
		return CAPTURE_UNSUPPORTED;
	}
	if (s == s->device->legacy)
		for (Stream *o = s->device->streams; o; o = o->next)
			if (o->graph && o->blocking) {
				o->graph->invalid = 1;
				return CAPTURE_IMPLICIT;
			}
	return OK;
}

enum { GLOBAL_MODE, THREAD_MODE, RELAXED_MODE };

Result capturing_strictly(void) {
	for (Stream *s = current->device->streams; s; s = s->next)
		if (s->graph && s->origin && s->mode != RELAXED_MODE) {
			s->graph->invalid = 1;
			return CAPTURE_UNSUPPORTED;
		}
	return OK;
}

static void graph_release(Graph *g) {
	if (--g->refs)
		return;
	for (Op *op = g->first; op;) {
		Op *next = op->next;
		free_op(op);
		op = next;
	}
	free(g);
}

Result cuStreamBeginCapture_v2(uintptr_t h, int mode) {
	ENTER;
	Stream *s = find_stream(h);
	if (!s)
		return leave(INVALID_HANDLE);
	if (s == s->device->legacy || s->graph)
		return leave(CAPTURE_UNSUPPORTED);
	if (mode < 0 || mode > 2)
		return leave(INVALID_VALUE);
	Graph *g = calloc(1, sizeof *g);
	g->refs = 1;
	g->id = ++graphs;
	s->graph = g;
	s->origin = 1;
	s->mode = mode;
	s->thread = pthread_self();
	s->dirty = 0;
	s->mark = 0;
	return leave(OK);
}

Result cuStreamIsCapturing(uintptr_t h, int *status) {
	ENTER;
	Stream *s = find_stream(h);
	if (!s)
		return leave(INVALID_HANDLE);
	*status = !s->graph ? 0 : s->graph->invalid ? 2 : 1;
	return leave(OK);
}

Result cuStreamEndCapture(uintptr_t h, Graph **out) {
	ENTER;
	*out = 0;
	Stream *s = find_stream(h);
	if (!s)
		return leave(INVALID_HANDLE);
	if (!s->graph)
		return leave(INVALID_VALUE);
	if (!s->origin)
		return leave(CAPTURE_UNMATCHED);
	if (s->mode != RELAXED_MODE && !pthread_equal(s->thread, pthread_self()))
		return leave(CAPTURE_WRONG_THREAD);
	Graph *g = s->graph;
	Result r = g->invalid ? CAPTURE_INVALIDATED : OK;
	for (Stream *o = s->device->streams; o; o = o->next)
		if (o->graph == g) {
			if (o->dirty && !r)
				r = CAPTURE_UNJOINED;
			o->graph = 0;
			o->dirty = 0;
			if (o != s)
				graph_release(g);
		}
	if (r)
		graph_release(g);
	else
		*out = g;
	return leave(r);
}

Result cuGraphDestroy(Graph *g) {
	ENTER;
	graph_release(g);
	return leave(OK);
}

Result cuGraphInstantiateWithFlags(Exec **out, Graph *g, unsigned long long flags) {
	ENTER;
	Exec *x = calloc(1, sizeof *x);
	x->graph = g;
	x->refs = 1;
	x->device = current->device;
	g->refs++;
	*out = x;
	return leave(OK);
}

void exec_release(Exec *x) {
	if (--x->refs)
		return;
	graph_release(x->graph);
	free(x);
}

Result cuGraphExecDestroy(Exec *x) {
	ENTER;
	exec_release(x);
	return leave(OK);
}

Result cuGraphLaunch(Exec *x, uintptr_t h) {
	ENTER;
	Stream *s = find_stream(h);
	if (!s)
		return leave(INVALID_HANDLE);
	if (x->device != s->device)
		return leave(INVALID_VALUE);
	counters[GRAPH_LAUNCHES]++;
	Op *op = new_op(GRAPH, 0, 0);
	op->exec = x;
	x->refs++;
	return leave(enqueue(s, op));
}
