package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"halfnote/kernel/client"
)

// missing is the value of a row whose measurement a kernel does not support.
const missing = -1

func spinning(ctx context.Context, g *guest, _ bool) ([]float64, error) {
	return g.busy(ctx, g.spin)
}

func training(ctx context.Context, g *guest, _ bool) ([]float64, error) {
	if g.train == "" {
		return nil, nil
	}
	values, err := g.busy(ctx, g.train)
	if err != nil {
		return nil, err
	}
	return values[:4], nil
}

// busy runs a cell five times. While it runs, busy sends requests on control and drags a
// slider on a subshell; then it interrupts the cell and checks that a variable has kept its
// value. It returns the median and the 99th percentile of replies and of drags, and the
// median of interrupts.
func (g *guest) busy(ctx context.Context, code string) ([]float64, error) {
	if _, _, err := g.cell(ctx, g.keep); err != nil {
		return nil, err
	}
	subshell, err := g.subshell(ctx)
	if err != nil {
		return nil, err
	}
	if err := g.widgets(ctx, subshell); err != nil {
		return nil, err
	}
	var control, drags, interrupts []float64
	for range 5 {
		end, err := g.start(ctx, code)
		if err != nil {
			return nil, err
		}
		took, err := times(20, func() error {
			_, err := g.kernel.Request(ctx, "control", "kernel_info_request", struct{}{})
			return err
		})
		if err != nil {
			return nil, err
		}
		control = append(control, took...)
		if g.models != nil {
			if took, err = times(4, func() error { return g.drag(ctx, subshell) }); err != nil {
				return nil, err
			}
			drags = append(drags, took...)
		}
		start := time.Now()
		if err := g.kernel.Interrupt(ctx); err != nil {
			return nil, err
		}
		at, err := end()
		if err != nil {
			return nil, err
		}
		interrupts = append(interrupts, ms(at.Sub(start)))
		if err := g.expect(ctx, g.kept, "42"); err != nil {
			return nil, fmt.Errorf("after an interrupt: %w", err)
		}
	}
	for _, list := range [][]float64{control, drags, interrupts} {
		slices.Sort(list)
	}
	dragged := []float64{missing, missing}
	if len(drags) > 0 {
		dragged = middle(drags)
	}
	return append(append(middle(control), dragged...), interrupts[len(interrupts)/2]), nil
}

// subshell makes a subshell and returns its ID.
func (g *guest) subshell(ctx context.Context) (string, error) {
	m, err := g.kernel.Request(ctx, "control", "create_subshell_request", struct{}{})
	if err != nil {
		return "", err
	}
	var subshell struct {
		ID string `json:"subshell_id"`
	}
	if err := m.Decode(&subshell); err != nil || subshell.ID == "" {
		return "", fmt.Errorf("create_subshell_request: got %s, %v; want a subshell_id", m.Content, err)
	}
	return subshell.ID, nil
}

// start starts a cell that runs until it is interrupted, and returns once the cell has
// printed a line. end waits for the end of the cell and returns its time.
func (g *guest) start(ctx context.Context, code string) (end func() (time.Time, error), err error) {
	on := make(chan bool, 1)
	ended := make(chan error, 1)
	var at time.Time
	go func() {
		r, err := g.kernel.Execute(ctx, code, client.ExecuteOptions{}, func(m client.Message) {
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
		return nil, errors.Join(fmt.Errorf("the cell %q ended without an interrupt", code), err)
	}
}

// widgets makes a slider and a label that follows it, from a cell on the subshell: ipykernel
// 7.4 answers a comm on the shell that used it last, whatever shell the message names, so a
// slider of the main shell would wait for the running cell. A kernel without the package for
// widgets gets none.
func (g *guest) widgets(ctx context.Context, subshell string) error {
	g.drags, g.models = 0, map[string]string{}
	r, err := g.kernel.Execute(ctx, g.slider, client.ExecuteOptions{Subshell: subshell}, func(m client.Message) {
		var c struct {
			ID   string `json:"comm_id"`
			Data struct{ State map[string]any }
		}
		if m.Header.Type == "comm_open" && m.Decode(&c) == nil {
			name, _ := c.Data.State["_model_name"].(string)
			g.models[name] = c.ID
		}
	})
	if err == nil && (r.Status != "ok" || g.models["IntSliderModel"] == "" || g.models["LabelModel"] == "") {
		g.models = nil
	}
	return err
}

// drag moves the slider, and waits until the label has changed and the kernel is idle.
func (g *guest) drag(ctx context.Context, subshell string) error {
	g.drags++
	c, err := g.kernel.SendRequest(client.Request{
		Channel: "shell", Type: "comm_msg", Subshell: subshell,
		Content: map[string]any{
			"comm_id": g.models["IntSliderModel"],
			"data":    map[string]any{"method": "update", "state": map[string]int{"value": g.drags}, "buffer_paths": []string{}},
		},
	})
	if err != nil {
		return err
	}
	followed, want := false, strconv.Itoa(2*g.drags)
	err = c.Idle(ctx, func(m client.Message) {
		var c struct {
			ID   string `json:"comm_id"`
			Data struct{ State map[string]any }
		}
		if m.Header.Type == "comm_msg" && m.Decode(&c) == nil && c.ID == g.models["LabelModel"] {
			followed = followed || c.Data.State["value"] == want
		}
	})
	if err == nil && !followed {
		err = fmt.Errorf("drag %d: the label did not become %s", g.drags, want)
	}
	return err
}
