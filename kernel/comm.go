package kernel

// No target of comms is registered here yet, so none is ever open.

func (k *kernel) commInfo(*request) (any, error) {
	return object{"status": "ok", "comms": object{}}, nil
}

// commOpen closes the comm at once, as the protocol asks of a kernel that does
// not know its target.
func (k *kernel) commOpen(r *request) (any, error) {
	var c struct {
		ID string `json:"comm_id"`
	}
	if err := r.decode(&c); err != nil {
		return nil, err
	}
	return nil, k.iopub.publish(k.life, r.Header, "comm_close", object{"comm_id": c.ID, "data": object{}})
}

// commIgnored takes the messages of comms that are not open.
func (k *kernel) commIgnored(*request) (any, error) { return nil, nil }
