package dist

import (
	"fmt"
	"math/bits"
	"time"
)

// Link is a connection between ranks, as a model sees it: sending m bytes takes Latency + m / Bandwidth.
type Link struct {
	Latency   time.Duration
	Bandwidth float64 // bytes per second that one rank sends while it receives as many
}

// Algorithm is the way in which ranks add up their tensors, for models of its time.
type Algorithm string

// The algorithms. Direct is that of AllReduce here: each rank gets its part of all tensors, adds it up, and sends the sum to
// all. Ring and Tree are the common ones of other libraries.
const (
	Direct Algorithm = "direct"
	Ring   Algorithm = "ring"
	Tree   Algorithm = "tree"
)

// AllReduceTime returns the time of an all-reduce of a number of bytes over links that do not slow each other down: for m bytes,
// n ranks, latency L and bandwidth B, 2(n-1)(L + m/nB) for Ring, 2(L + (n-1)m/nB) for Direct, whose messages are under way
// together, and 2⌈log2 n⌉(L + m/B) for Tree. It panics if the link has no bandwidth, or for less than one rank. The formulas
// are those of Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH (2005).
func (l Link) AllReduceTime(a Algorithm, ranks, bytes int) time.Duration {
	if l.Bandwidth <= 0 || ranks < 1 || bytes < 0 || l.Latency < 0 {
		panic(&Error{Code: "argument", Call: "AllReduceTime", Why: fmt.Sprintf("%d ranks send %d bytes over a link of %v and %g bytes per second", ranks, bytes, l.Latency, l.Bandwidth), Cure: "pass a bandwidth above 0, at least one rank and no negative number"})
	}
	n := float64(ranks)
	messages, all := 0.0, 0.0 // latencies, and multiples of the bytes, that follow one another
	switch depth := bits.Len(uint(ranks - 1)); a {
	case Ring:
		messages, all = 2*(n-1), 2*(n-1)/n
	case Direct:
		messages, all = 2*min(1, n-1), 2*(n-1)/n
	case Tree:
		messages, all = float64(2*depth), float64(2*depth)
	default:
		panic(&Error{Code: "argument", Call: "AllReduceTime", Why: fmt.Sprintf("there is no algorithm %q", a), Cure: "pass dist.Direct, dist.Ring or dist.Tree"})
	}
	return time.Duration(messages*float64(l.Latency) + all*float64(bytes)/l.Bandwidth*float64(time.Second))
}

// LinkOf returns the link whose model agrees with two measured times of Direct all-reduces: a short one, and one of many bytes.
// It panics if the long one is not slower.
func LinkOf(ranks int, short time.Duration, shortBytes int, long time.Duration, longBytes int) Link {
	if ranks < 2 || long <= short || longBytes <= shortBytes {
		panic(&Error{Code: "argument", Call: "LinkOf", Why: fmt.Sprintf("%d ranks take %v for %d bytes and %v for %d", ranks, short, shortBytes, long, longBytes), Cure: "measure at least 2 ranks, and more bytes that take longer"})
	}
	n := float64(ranks)
	b := 2 * (n - 1) / n * float64(longBytes-shortBytes) / (long - short).Seconds()
	rest := short.Seconds() - 2*(n-1)/n*float64(shortBytes)/b
	return Link{Latency: time.Duration(max(0, rest) / 2 * float64(time.Second)), Bandwidth: b}
}

// Machine is a computer with several ranks to a node.
type Machine struct {
	Name            string
	PerNode         int  // ranks of a node, one for each processor
	Inside, Between Link // between ranks of a node, and of different nodes
	Source          string
}

// Machines returns machines with the peak bandwidths of their documentation. Real transfers reach less, so that times are
// lower bounds. Latencies are assumptions, not facts: 5 µs in a node and 10 µs between nodes.
func Machines() []Machine {
	const in, out = 5 * time.Microsecond, 10 * time.Microsecond
	return []Machine{
		{"Frontier (AMD MI250X)", 8, Link{in, 50e9}, Link{out, 100e9 / 8}, "docs.olcf.ornl.gov, Frontier User Guide: 8 dies to a node, 50 to 100 GB/s between them, 4 network cards of 25 GB/s"},
		{"p4d.24xlarge (NVIDIA A100)", 8, Link{in, 300e9}, Link{out, 50e9 / 8}, "aws.amazon.com, EC2 P4: 8 GPUs, NVSwitch of 600 GB/s both ways, 400 Gb/s"},
		{"p5.48xlarge (NVIDIA H100)", 8, Link{in, 450e9}, Link{out, 400e9 / 8}, "aws.amazon.com, EC2 P5: 8 GPUs, NVSwitch of 900 GB/s both ways, 3200 Gb/s"},
		{"10 Gb Ethernet", 1, Link{in, 1.25e9}, Link{out, 1.25e9}, "IEEE 802.3ae: 10 Gb/s"},
	}
}

// Step is a training step of one rank with DistributedDataParallel, for a model of its time on more ranks.
type Step struct {
	Forward, Backward, Update time.Duration // computation, measured on one rank
	Buckets                   []int         // bytes of the buckets, in the order in which Backward completes them
	Algorithm                 Algorithm
}

// Time returns how long the step takes on a number of ranks over a link, and how much of it waits for communication.
// The buckets are complete at equal distances within Backward; one is reduced after another, while Backward computes.
func (s Step) Time(l Link, ranks int) (step, exposed time.Duration) {
	computed := s.Forward + s.Backward
	var free time.Duration // time at which the link is free
	for i, b := range s.Buckets {
		ready := s.Forward + s.Backward*time.Duration(i+1)/time.Duration(len(s.Buckets))
		free = max(free, ready) + l.AllReduceTime(s.Algorithm, ranks, b)
	}
	if ranks > 1 {
		exposed = max(0, free-computed)
	}
	return computed + exposed + s.Update, exposed
}

// Link returns the slowest link that a number of ranks of the machine use.
func (m Machine) Link(ranks int) Link {
	if ranks <= m.PerNode {
		return m.Inside
	}
	return m.Between
}
