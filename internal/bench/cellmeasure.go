package bench

import (
	"context"
	"fmt"
	"time"
)

func started(_ context.Context, g *guest, _ bool) ([]float64, error) {
	return []float64{ms(g.ready)}, nil
}

func roundTrips(ctx context.Context, g *guest, _ bool) ([]float64, error) {
	sum := func() error { return g.expectSum(ctx) }
	if _, err := times(20, sum); err != nil { // warm up
		return nil, err
	}
	took, err := times(300, sum)
	if err != nil {
		return nil, err
	}
	return middle(took), nil
}

// repeated returns a measurement of the mean of 20 runs of a cell, after 20 unmeasured runs.
// unit is the unit of the result in nanoseconds.
func repeated(cells func(language) (prepare, code string), unit float64) func(context.Context, *guest, bool) ([]float64, error) {
	return func(ctx context.Context, g *guest, _ bool) ([]float64, error) {
		prepare, code := cells(g.language)
		if prepare != "" {
			if _, _, err := g.cell(ctx, prepare); err != nil {
				return nil, err
			}
		}
		const n = 20
		var start time.Time
		for k := range 2 * n {
			if k == n {
				start = time.Now()
			}
			if _, _, err := g.cell(ctx, code); err != nil {
				return nil, err
			}
		}
		return []float64{float64(time.Since(start)) / n / unit}, nil
	}
}

func completions(ctx context.Context, g *guest, _ bool) ([]float64, error) {
	took, err := times(100, func() error {
		m, err := g.kernel.Request(ctx, "shell", "complete_request", map[string]any{"code": g.complete, "cursor_pos": len(g.complete)})
		if err != nil {
			return err
		}
		var c struct{ Matches []string }
		if err := m.Decode(&c); err != nil || len(c.Matches) == 0 {
			return fmt.Errorf("completion of %q: no matches (%v)", g.complete, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return middle(took), nil
}

func manyLines(ctx context.Context, g *guest, _ bool) ([]float64, error) {
	took, err := times(3, func() error {
		_, printed, err := g.cell(ctx, g.lines)
		if err == nil && printed != 98890 {
			err = fmt.Errorf("10,000 lines: %d bytes arrived, want 98890", printed)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return []float64{10_000 / took[1] * 1000}, nil
}

func fifty(ctx context.Context, g *guest, _ bool) ([]float64, error) {
	start := time.Now()
	_, printed, err := g.cell(ctx, g.fill)
	if err != nil {
		return nil, err
	}
	values := []float64{ms(time.Since(start))}
	if printed != 50<<20 {
		return nil, fmt.Errorf("50 MB: %d bytes arrived, want %d", printed, 50<<20)
	}
	if rss := g.resident(); rss > 0 {
		values = append(values, rss/1e6)
	}
	return values, nil
}

// growth runs many cells: 10,000 in the full preset, otherwise 1000.
func growth(ctx context.Context, g *guest, full bool) ([]float64, error) {
	before := g.resident()
	if before == 0 {
		return nil, nil
	}
	cells := 1000
	if full {
		cells = 10_000
	}
	for range cells {
		if err := g.expectSum(ctx); err != nil {
			return nil, err
		}
	}
	return []float64{before / 1e6, max(1, (g.resident()-before)/float64(cells))}, nil
}
