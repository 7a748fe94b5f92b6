package amp

import (
	"fmt"
	"strings"

	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// cache holds the casts of weights while the outermost region is open, so that a weight used
// twice is cast once. All uses share one cast node, and their gradients are summed in the
// low-precision dtype before they are cast back.
//
// The rule is torch's since PR 165068, with two improvements: an entry belongs to a
// dtype, so that nested regions of two dtypes do not mix, and one whose weight has
// been changed in place is cast again. LegacyCache is torch's earlier rule.
type cache struct {
	entries map[key]entry
	hits    int
	made    int
}

type key struct {
	weight *tensor.Tensor
	to     tensor.DType // 0 by the legacy rule
}

type entry struct {
	cast    *tensor.Tensor
	version int
	work    work
}

// work identifies the work that a cast belongs to: a graph being captured, whose replays repeat
// the cast, or the interval between two replays, which change weights without a new version.
type work struct{ capture, replays uint64 }

func workOfNow() work {
	if r, since := driver.Recording(); r != nil {
		return work{capture: since}
	}
	return work{replays: driver.Replays()}
}

func newCache() *cache { return &cache{entries: map[key]entry{}} }

// cacheable reports whether t is a weight: a float32 leaf that requires grad and is not a view.
func cacheable(t *tensor.Tensor) bool {
	return t.DType() == tensor.Float32 && t.RequiresGrad() && t.IsLeaf() && !t.IsView()
}

func (c *cache) cast(t *tensor.Tensor, to tensor.DType, legacy bool) *tensor.Tensor {
	k := key{t, to}
	if legacy {
		k.to = 0
	}
	now := workOfNow()
	if e, ok := c.entries[k]; ok && e.work == now && (legacy || e.version == t.Version()) {
		c.hits++
		return e.cast
	}
	var y *tensor.Tensor
	if legacy {
		y = t.To(to)
	} else {
		// With gradient recording on, even under NoGrad: the entry serves later uses
		// that need its history.
		tensor.EnableGrad(func() { y = fused.CastWeight(t, to) })
	}
	c.made++
	c.entries[k] = entry{y, t.Version(), now}
	return y
}

// clear drops all casts.
func (c *cache) clear() { clear(c.entries) }

// LegacyCache returns p with torch's cache of weight casts before PR 165068, including its
// three faults: a weight first used under NoGrad gets no gradient from later uses in the
// region, a weight changed in the region is not cast again, and a nested region of another
// dtype gets the outer region's cast. torch 2.15 still has the second and the third. It exists
// to study them.
func LegacyCache(p Policy) Policy {
	p.legacy = true
	return p
}

// CacheStats are statistics of the cache of weight casts since the outermost region was opened.
type CacheStats struct {
	Entries int // casts held
	Bytes   int // memory of the held casts
	Hits    int // uses that found a cast
	Misses  int // uses that made a cast
}

// String returns the numbers in a sentence.
func (s CacheStats) String() string {
	return fmt.Sprintf("%s of weights held, %s; %s, %s", plural(s.Entries, "cast"), plural(int(s.Bytes), "byte"), plural(s.Hits, "hit"), plural(s.Misses, "miss"))
}

// CacheStatistics returns the cache statistics of the region open on this goroutine, zeros outside
// regions.
func CacheStatistics() CacheStats {
	c := regionOf(casting.Enclosing())
	if c == nil {
		return CacheStats{}
	}
	s := CacheStats{Entries: len(c.cache.entries), Hits: c.cache.hits, Misses: c.cache.made}
	for _, e := range c.cache.entries {
		s.Bytes += e.cast.Bytes()
	}
	return s
}

// ClearCache drops the casts of weights held by the open region, so that their next uses cast
// again. The end of the outermost region also drops them. It is torch.clear_autocast_cache.
func ClearCache() {
	if c := regionOf(casting.Enclosing()); c != nil {
		c.cache.clear()
	}
}

// plural returns a number of things, for example "1 cast" and "2 casts".
func plural(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
