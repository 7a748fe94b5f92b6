package jupyter

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// seenFor is how long a file of signatures is kept that its kernel, which was killed, never came back for.
const seenFor = 7 * 24 * time.Hour

// seenPath returns the file next to the history that keeps the signatures of the messages that a kernel with this key has received: a
// kernel that a front end starts again has the same key, and must refuse what was recorded before. It returns "" without a key or a history.
func seenPath(history, key string) string {
	if history == "" || key == "" {
		return ""
	}
	return history + ".seen-" + shortHash("signatures of "+key)
}

// keep loads the signatures in a file and appends each later one before its message is served: what a process has written
// outlives it, however it ends.
func (c *Codec) keep(path string) error {
	if path == "" {
		return nil
	}
	old, _ := filepath.Glob(path[:len(path)-16] + "*") // ends in 16 digits of a hash
	for _, file := range old {
		if info, err := os.Stat(file); err == nil && file != path && time.Since(info.ModTime()) > seenFor {
			os.Remove(file)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := private(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(f, 4*maxSeen*16))
	if err != nil {
		f.Close()
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for ; len(text) >= 16; text = text[16:] {
		c.remember([16]byte(text))
	}
	c.file = f
	return c.rewrite()
}

// rewrite makes the file as short as the table; c.mu is held.
func (c *Codec) rewrite() error {
	var text []byte
	for i := range c.ring { // the oldest first
		short := c.ring[(c.next+i)%len(c.ring)]
		text = append(text, short[:]...)
	}
	c.written = len(c.ring)
	if err := c.file.Truncate(0); err != nil {
		return err
	}
	_, err := c.file.Write(text)
	return err
}

// write adds a signature to the file; c.mu is held. Without the file, signatures are kept in memory.
func (c *Codec) write(short [16]byte) {
	if c.file == nil {
		return
	}
	_, err := c.file.Write(short[:])
	if c.written++; err == nil && c.written >= 2*maxSeen {
		err = c.rewrite()
	}
	if err != nil {
		c.lost = fmt.Errorf("the signatures of received messages cannot be kept: %w", err)
		c.file.Close()
		c.file = nil
	}
}

// forget closes the file, and removes it unless the kernel is to be started again and has received messages. It returns what went wrong so far.
func (c *Codec) forget(restart bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != nil {
		c.file.Close()
		if !restart || len(c.ring) == 0 {
			os.Remove(c.file.Name())
		}
		c.file = nil
	}
	return c.lost
}
