//go:build !js

package worker

import (
	"context"
	"errors"

	"halfnote/kernel"
)

// Serve fails: only a page in a browser has workers. It closes e.
func Serve(_ context.Context, _ kernel.Config, e kernel.Evaluator) error {
	return errors.Join(errors.New("worker: there is no page: build the program with GOOS=js GOARCH=wasm"), e.Close())
}
