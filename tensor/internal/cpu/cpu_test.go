package cpu_test

import (
	"fmt"
	"testing"

	"halfnote/tensor/driver"
	"halfnote/tensor/drivertest"
	"halfnote/tensor/internal/cpu"
)

func TestConformance(t *testing.T) { drivertest.Run(t, driver.Lookup("cpu")) }

func TestWorkers(t *testing.T) {
	one := cpu.New(1)
	for _, n := range []int{2, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { drivertest.Same(t, one, cpu.New(n)) })
	}
}

func BenchmarkCPU(b *testing.B) {
	for _, n := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", n), func(b *testing.B) { drivertest.Bench(b, cpu.New(n)) })
	}
}
