#include "driver.h"

#include <stdlib.h>

static Event **events;
static int nevents, event_room;

static Event *find_event(Event *e) {
	for (int i = 0; i < nevents; i++)
		if (events[i] == e)
			return e;
	return 0;
}

#define EVENT(e)                                        \
	ENTER;                                          \
	if (!find_event(e)) return leave(INVALID_HANDLE)

Result cuEventCreate(Event **out, unsigned flags) {
	ENTER;
	Event *e = calloc(1, sizeof *e);
	e->device = current->device;
	e->timing = !(flags & 2);
	e->refs = 1;
	if (nevents == event_room) {
		event_room = event_room ? 2 * event_room : 64;
		events = realloc(events, event_room * sizeof *events);
	}
	events[nevents++] = *out = e;
	return leave(OK);
}

Result cuEventDestroy_v2(Event *e) {
	EVENT(e);
	for (int i = 0; i < nevents; i++)
		if (events[i] == e) {
			events[i] = events[--nevents];
			break;
		}
	event_release(e);
	return leave(OK);
}

Result cuEventRecord(Event *e, uintptr_t h) {
	EVENT(e);
	Stream *s = find_stream(h);
	if (!s || e->device != s->device)
		return leave(INVALID_HANDLE);
	if (s->graph) {
		if (s->graph->invalid)
			return leave(CAPTURE_INVALIDATED);
		e->graph = s->graph;
		e->captured = s;
		e->mark = s->mark;
		return leave(OK);
	}
	e->graph = 0;
	e->stream = s;
	e->queries = 0;
	Op *op = new_op(RECORD, 0, 0);
	op->event = e;
	op->stamp = ++e->recorded;
	e->refs++;
	return leave(enqueue(s, op));
}

// A captured event belongs to a graph: it cannot be waited for outside.
static Result usable(Event *e) {
	if (!e->graph)
		return OK;
	e->graph->invalid = 1;
	return CAPTURED_EVENT;
}

Result cuEventQuery(Event *e) {
	EVENT(e);
	Result r = usable(e);
	if (r)
		return leave(r);
	if (e->done < e->recorded && ++e->queries < 2)
		return leave(NOT_READY);
	counters[SYNCS] += e->queries > 1;
	e->queries = 0;
	r = drain_until(e, e->recorded);
	return leave(r ? r : current->sticky);
}

Result cuEventSynchronize(Event *e) {
	EVENT(e);
	counters[SYNCS]++;
	Result r = usable(e);
	if (!r)
		r = drain_until(e, e->recorded);
	return leave(r ? r : current->sticky);
}

Result cuEventElapsedTime(float *ms, Event *a, Event *b) {
	EVENT(a);
	if (!find_event(b) || !a->timing || !b->timing || !a->recorded || !b->recorded)
		return leave(INVALID_HANDLE);
	if (a->done < a->recorded || b->done < b->recorded)
		return leave(NOT_READY);
	*ms = b->time - a->time;
	return leave(OK);
}

Result cuStreamWaitEvent(uintptr_t h, Event *e, unsigned flags) {
	EVENT(e);
	Stream *s = find_stream(h);
	if (!s)
		return leave(INVALID_HANDLE);
	if (e->graph) { // joins the capture or the event's capture
		if (s->graph && s->graph != e->graph || !s->graph && s->first)
			return leave(CAPTURE_ISOLATION);
		if (!s->graph) {
			s->graph = e->graph;
			s->graph->refs++;
			s->origin = 0;
			s->mark = 0;
		}
		if (e->captured != s && e->captured->mark == e->mark)
			e->captured->dirty = 0;
		s->dirty = !s->origin;
		return leave(OK);
	}
	if (s->graph) {
		if (e->recorded == 0)
			return leave(OK);
		s->graph->invalid = 1;
		return leave(CAPTURE_ISOLATION);
	}
	if (e->done >= e->recorded)
		return leave(OK);
	Op *op = new_op(WAIT, 0, 0);
	op->event = e;
	op->stamp = e->recorded;
	e->refs++;
	return leave(enqueue(s, op));
}
