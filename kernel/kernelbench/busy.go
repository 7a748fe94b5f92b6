package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"halfnote/kernel/client"
)

// busy measures what is answered while a cell is busy.
func (b *bench) busy() error {
	if _, _, err := b.cell(b.keep); err != nil {
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

// beside runs a cell five times. It asks on control and on a subshell while the cell
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
	var control, comm []float64
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
		if took, err = times(100, func() error { return b.comm(subshell.ID) }); err != nil {
			return nil, err
		}
		comm = append(comm, took...)
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
	for _, list := range [][]float64{control, comm, interrupts} {
		slices.Sort(list)
	}
	b.percentiles("control "+when, control)
	b.percentiles("a comm on a subshell "+when, comm)
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

// comm opens a comm with a target that nobody has, and waits until the kernel has closed
// it: the way of a slider's messages, without what a widget does with them.
func (b *bench) comm(subshell string) error {
	c, err := b.k.SendRequest(client.Request{
		Channel: "shell", Type: "comm_open", Subshell: subshell,
		Content: map[string]any{"comm_id": fmt.Sprint(time.Now().UnixNano()), "target_name": "nobody", "data": struct{}{}},
	})
	if err != nil {
		return err
	}
	closed := false
	err = c.Idle(b.ctx, func(m client.Message) { closed = closed || m.Header.Type == "comm_close" })
	if err == nil && !closed {
		err = errors.New("the kernel did not close a comm whose target it does not know")
	}
	return err
}
