package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"halfnote/kernel/client"
)

// busy measures what is answered while a cell is busy.
func (b *bench) busy() error {
	if _, _, err := b.cell(b.keep); err != nil {
		return err
	}
	if err := b.widgets(); err != nil {
		return err
	}
	interrupts, err := b.beside("while a cell spins", b.spin)
	if err != nil {
		return err
	}
	b.out["interrupt of a spinning cell, ms"] = interrupts[len(interrupts)/2]
	if b.train != "" {
		_, err = b.beside("while a cell trains", b.train)
	}
	return err
}

// beside runs a cell five times. It asks on control and drags on a subshell while the cell
// runs, then interrupts it, and wants what was kept before. It returns how long each
// interrupt took.
func (b *bench) beside(when, code string) (interrupts []float64, err error) {
	m, err := b.k.Request(b.ctx, "control", "create_subshell_request", struct{}{})
	if err != nil {
		return nil, err
	}
	var subshell struct {
		ID string `json:"subshell_id"`
	}
	if err := m.Decode(&subshell); err != nil || subshell.ID == "" {
		return nil, fmt.Errorf("no subshell: %s, %v", m.Content, err)
	}
	var control, drags []float64
	for range 5 {
		end, err := b.start(code)
		if err != nil {
			return nil, err
		}
		took, err := times(100, func() error {
			_, err := b.k.Request(b.ctx, "control", "kernel_info_request", struct{}{})
			return err
		})
		if err != nil {
			return nil, err
		}
		control = append(control, took...)
		if b.models != nil {
			if took, err = times(100, func() error { return b.drag(subshell.ID) }); err != nil {
				return nil, err
			}
			drags = append(drags, took...)
		}
		start := time.Now()
		if err := b.k.Interrupt(b.ctx); err != nil {
			return nil, err
		}
		at, err := end()
		if err != nil {
			return nil, err
		}
		interrupts = append(interrupts, ms(at.Sub(start)))
		if err := b.expect(b.kept, "42"); err != nil {
			return nil, fmt.Errorf("after an interrupt: %w", err)
		}
	}
	for _, list := range [][]float64{control, drags, interrupts} {
		slices.Sort(list)
	}
	b.percentiles("control "+when, control)
	if b.models != nil {
		b.percentiles("a drag of a slider "+when, drags)
	}
	return interrupts, nil
}

// start starts a cell that runs until it is interrupted, and returns when it has said
// something. end waits for its end, and returns when that was.
func (b *bench) start(code string) (end func() (time.Time, error), err error) {
	on := make(chan bool, 1)
	ended := make(chan error, 1)
	var at time.Time
	go func() {
		r, err := b.k.Execute(b.ctx, code, client.ExecuteOptions{}, func(m client.Message) {
			if m.Header.Type == "stream" {
				select {
				case on <- true:
				default:
				}
			}
		})
		at = time.Now()
		if err == nil && r.Status != "error" {
			err = fmt.Errorf("the cell %q ended with %q", code, r.Status)
		}
		ended <- err
	}()
	select {
	case <-on:
		return func() (time.Time, error) { err := <-ended; return at, err }, nil
	case err := <-ended:
		return nil, errors.Join(fmt.Errorf("the cell %q ended by itself", code), err)
	}
}

// widgets makes a slider and a label that follows it. A kernel without the package for
// that has none.
func (b *bench) widgets() error {
	b.drags, b.models = 0, map[string]string{}
	r, err := b.k.Execute(b.ctx, b.slider, client.ExecuteOptions{}, func(m client.Message) {
		var c struct {
			ID   string `json:"comm_id"`
			Data struct{ State map[string]any }
		}
		if m.Header.Type == "comm_open" && m.Decode(&c) == nil {
			name, _ := c.Data.State["_model_name"].(string)
			b.models[name] = c.ID
		}
	})
	if err == nil && (r.Status != "ok" || b.models["IntSliderModel"] == "" || b.models["LabelModel"] == "") {
		b.models = nil
		fmt.Fprintf(os.Stderr, "no slider: %s %s\n", r.ErrorName, r.ErrorValue)
	}
	return err
}

// drag moves the slider, and waits until the label has followed and the kernel is idle.
func (b *bench) drag(subshell string) error {
	b.drags++
	c, err := b.k.SendRequest(client.Request{
		Channel: "shell", Type: "comm_msg", Subshell: subshell,
		Content: map[string]any{
			"comm_id": b.models["IntSliderModel"],
			"data":    map[string]any{"method": "update", "state": map[string]int{"value": b.drags}, "buffer_paths": []string{}},
		},
	})
	if err != nil {
		return err
	}
	followed, want := false, strconv.Itoa(2*b.drags)
	err = c.Idle(b.ctx, func(m client.Message) {
		var c struct {
			ID   string `json:"comm_id"`
			Data struct{ State map[string]any }
		}
		if m.Header.Type == "comm_msg" && m.Decode(&c) == nil && c.ID == b.models["LabelModel"] {
			followed = followed || c.Data.State["value"] == want
		}
	})
	if err == nil && !followed {
		err = fmt.Errorf("drag %d: the label did not become %s", b.drags, want)
	}
	return err
}
