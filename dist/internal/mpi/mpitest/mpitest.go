// Package mpitest has ranks that are goroutines of one process, for tests without an MPI library.
package mpitest

import (
	"fmt"
	"sync"

	"halfnote/dist/internal/mpi"
)

// World returns the communicators of n ranks.
func World(n int) []mpi.Comm {
	w := &world{n: n, calls: map[key]*call{}}
	list := make([]mpi.Comm, n)
	for i := range list {
		list[i] = &comm{w: w, rank: i}
	}
	return list
}

type world struct {
	sync.Mutex
	n     int
	calls map[key]*call
}

// key names a call: the channel and the number of the call on it.
type key struct{ channel, call int }

// call is a collective that some ranks have begun.
type call struct {
	name   string
	ranks  map[int]member
	copied bool
	read   int
}

// member is a rank's side of a call.
type member struct {
	from       []byte
	send, recv []mpi.Part
	into       []byte
}

type comm struct {
	w    *world
	rank int
	key  key
}

func (c *comm) Rank() int { return c.rank }
func (c *comm) Size() int { return c.w.n }

// join adds this rank to its next call.
func (c *comm) join(name string, m member) (mpi.Request, error) {
	c.w.Lock()
	defer c.w.Unlock()
	k := c.key
	c.key.call++
	x := c.w.calls[k]
	if x == nil {
		x = &call{name: name, ranks: map[int]member{}}
		c.w.calls[k] = x
	}
	if x.name != name {
		return nil, fmt.Errorf("rank %d calls %s where another rank calls %s", c.rank, name, x.name)
	}
	x.ranks[c.rank] = m
	return &request{c: c, key: k}, nil
}

type request struct {
	c    *comm
	key  key
	done bool
}

func (r *request) Done() (bool, error) {
	w := r.c.w
	w.Lock()
	defer w.Unlock()
	if r.done {
		return true, nil
	}
	x := w.calls[r.key]
	if len(x.ranks) < w.n {
		return false, nil
	}
	if !x.copied { // the first to see all ranks copies for all, while every sender still waits
		x.copied = true
		for i := range w.n {
			copyTo(x, i)
		}
	}
	r.done = true
	if x.read++; x.read == w.n {
		delete(w.calls, r.key)
	}
	return true, nil
}

// copyTo copies to rank i what the others send to it.
func copyTo(x *call, i int) {
	to := x.ranks[i]
	for j, recv := range to.recv {
		from := x.ranks[j]
		if j == i || i >= len(from.send) {
			continue
		}
		send := from.send[i]
		copy(to.into[recv.At:recv.At+recv.Len], from.from[send.At:send.At+send.Len])
	}
}

func (c *comm) Alltoall(from []byte, send []mpi.Part, into []byte, recv []mpi.Part) (mpi.Request, error) {
	return c.join("Alltoall", member{from, send, recv, into})
}

func (c *comm) Allgather(p []byte, parts []mpi.Part) (mpi.Request, error) {
	send := make([]mpi.Part, c.w.n)
	for i := range send {
		send[i] = parts[c.rank]
	}
	return c.join("Allgather", member{p, send, parts, p})
}

func (c *comm) Broadcast(p []byte, root int) (mpi.Request, error) {
	send, recv := make([]mpi.Part, c.w.n), make([]mpi.Part, c.w.n)
	for i := range send {
		if c.rank == root {
			send[i] = mpi.Part{Len: len(p)}
		}
	}
	if c.rank != root {
		recv[root] = mpi.Part{Len: len(p)}
	}
	return c.join("Broadcast", member{p, send, recv, p})
}

func (c *comm) Barrier() (mpi.Request, error) { return c.join("Barrier", member{}) }

func (c *comm) Abandon() error {
	c.key = key{channel: c.key.channel + 1}
	return nil
}

func (c *comm) Close() error { return nil }
