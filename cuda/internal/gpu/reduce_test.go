//go:build cuda && linux && cgo

package gpu

import (
	"testing"

	"halfnote/tensor/drivertest"
)

func TestReduce(t *testing.T) {
	drivertest.Check(t, open(t), "Reduce", "ReduceOrder", "Prod", "Extreme")
}

func TestScan(t *testing.T) { drivertest.Check(t, open(t), "Recurrence", "CumArg") }

func TestSoftmax(t *testing.T) { drivertest.Check(t, open(t), "Softmax") }
