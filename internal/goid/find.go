package goid

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"unsafe"
)

const (
	// extent is the number of bytes of a description that are searched. The number has been in the first
	// 160 bytes since Go 1.0.
	extent = 512
	// page is the smallest unit of memory protection. All bytes in the page of a description's first byte
	// can be read, however long the description is.
	page = 4096
	// enough is the number of goroutines that must agree, of at most that many started: a description near the end of
	// its page cannot be searched.
	enough, most = 8, 64
)

// sample is the beginning of a goroutine's description, and the number that runtime.Stack prints.
type sample struct {
	id    uint64
	words [extent / unsafe.Sizeof(uintptr(0))]uint64 // at all multiples of the size of a pointer
}

// find returns the place of the number in descriptions, or 0 and why the number cannot be read there. The value of the
// environment variable restricts the search.
func find(restriction string) (offset uintptr, reason string) {
	if restriction == "stack" {
		return 0, variable + "=stack"
	}
	only, err := strconv.ParseUint(restriction, 10, 16)
	switch {
	case restriction != "" && (err != nil || only == 0):
		return 0, fmt.Sprintf("%s is %q: want \"stack\", or an offset in bytes", variable, restriction)
	case !readable:
		return 0, "this program reads no descriptions of goroutines on " + runtime.GOARCH
	}
	samples := take()
	if len(samples) < enough {
		return 0, fmt.Sprintf("only %d of %d goroutines have a description inside one page", len(samples), most)
	}
	places := agreed(samples)
	if restriction != "" {
		if slices.Contains(places, uintptr(only)) {
			return uintptr(only), ""
		}
		return 0, fmt.Sprintf("%s=%d is not the place of the goroutine's number", variable, only)
	}
	if len(places) != 1 {
		return 0, fmt.Sprintf("%d places in the description of a goroutine hold its number, want 1", len(places))
	}
	return places[0], ""
}

// take returns samples of goroutines that exist at the same time.
func take() (samples []sample) {
	var s sample
	taken, end := make(chan bool), make(chan struct{})
	defer close(end)
	for range most {
		go func() {
			taken <- s.read()
			<-end // the runtime gives the description to another goroutine afterwards
		}()
		if <-taken {
			if samples = append(samples, s); len(samples) == enough {
				break
			}
		}
	}
	return samples
}

// read makes s the sample of the calling goroutine, and reports whether that is possible.
func (s *sample) read() bool {
	if address()%page > page-extent-unsafe.Sizeof(s.words[0]) {
		return false
	}
	s.id = fromStack()
	for i := range s.words {
		s.words[i] = word(place(i))
	}
	return true
}

// agreed returns the places where each sample has its number.
func agreed(samples []sample) (places []uintptr) {
	for i := 1; i < len(samples[0].words); i++ { // the first word is a bound of the stack
		if !slices.ContainsFunc(samples, func(s sample) bool { return s.words[i] != s.id }) {
			places = append(places, place(i))
		}
	}
	return places
}

// place returns the offset of the words with index i.
func place(i int) uintptr { return uintptr(i) * unsafe.Sizeof(uintptr(0)) }
