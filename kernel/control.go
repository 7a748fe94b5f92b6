package kernel

// control answers a request on control while a cell runs and while front ends are
// slow to read: its statuses do not wait for subscribers.
func (k *kernel) control(r *request) {
	k.serve(r, func(state string) { k.iopub.later(r.Header, "status", status{state}) })
}

// interruptRequest interrupts the cell, and the processes that cells have started, as the terminal and IPython do.
func (k *kernel) interruptRequest(*request) (any, error) {
	k.interrupt()
	if k.Interrupted != nil {
		k.Interrupted()
	}
	return object{"status": "ok"}, nil
}

func (k *kernel) shutdown(r *request) (any, error) {
	var c struct{ Restart bool }
	if err := r.decode(&c); err != nil {
		k.log.Printf("shutdown_request: %v", err) // the intent is clear
	}
	reply := object{"status": "ok", "restart": c.Restart}
	k.iopub.later(r.Header, "shutdown_reply", reply)
	k.again.Store(c.Restart)
	r.then = k.stop
	return reply, nil
}
