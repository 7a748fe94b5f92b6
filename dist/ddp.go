package dist

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

var gradients = tensor.Internal(plumbing.Token{}).Gradients

// DDPOption configures NewDistributedDataParallel.
type DDPOption func(*DistributedDataParallel)

// BucketCapMB sets the size of buckets in MiB; 25 by default. The first bucket has at most 1 MiB, so that communication starts early.
func BucketCapMB(mb float64) DDPOption {
	return func(d *DistributedDataParallel) { d.bucketBytes = int(mb * (1 << 20)) }
}

// FindUnusedParameters allows steps in which the loss does not depend on all parameters. Off by default: such a step panics.
func FindUnusedParameters() DDPOption {
	return func(d *DistributedDataParallel) { d.findUnused = true }
}

// BroadcastBuffers sets whether Forward copies rank 0's buffers, such as running statistics, to all ranks; by default it does.
func BroadcastBuffers(on bool) DDPOption {
	return func(d *DistributedDataParallel) { d.broadcastBuffers = on }
}

// DistributedDataParallel is a module whose gradients are averaged over the ranks during Backward. Names of parameters are those
// of the module. Use it from one goroutine. It is torch.nn.parallel.DistributedDataParallel.
type DistributedDataParallel struct {
	nn.Module

	reducer `nn:"-"`
}

// reducer is the part of a DistributedDataParallel that is not the model.
type reducer struct {
	g                *group
	bucketBytes      int
	findUnused       bool
	broadcastBuffers bool
	hook             CommHook
	noSync           bool
	joining          bool
	params           []nn.Named
	buffers          []*tensor.Tensor
	buckets          []*GradBucket
	launched         int // buckets whose reduction has begun in this Backward
	running          bool

	steps     int  // batches of this rank in Join
	shadowed  bool // the ranks with a batch reduce its gradients
	shadowSrc int  // highest rank with a batch
}

// NewDistributedDataParallel wraps m, on all ranks. It copies the parameters and buffers of rank 0 to the others, and from then on
// Backward averages gradients: in buckets of about 25 MiB, each reduced as soon as its gradients are complete, while the
// derivative of earlier layers is computed. It panics with an *[Error] if the ranks' models differ in names, shapes or dtypes
// of parameters, or if m has none.
func NewDistributedDataParallel(m nn.Module, options ...DDPOption) *DistributedDataParallel {
	return member("NewDistributedDataParallel").NewDDP(m, options...)
}

func (g *group) NewDDP(m nn.Module, options ...DDPOption) *DistributedDataParallel {
	const call = "NewDistributedDataParallel"
	if m == nil {
		g.refuse(call, "pass a module", "the module is nil")
	}
	d := &DistributedDataParallel{m, reducer{g: g, bucketBytes: 25 << 20, broadcastBuffers: true, params: nn.NamedParameters(m)}}
	for i, o := range options {
		if o == nil {
			g.refuse(call, "pass a dist.DDPOption", "option %d is nil", i+1)
		}
		o(d)
	}
	if len(d.params) == 0 {
		g.refuse(call, "pass a model with tensors that require a gradient", "the module has no parameters")
	}
	if d.bucketBytes <= 0 {
		g.refuse(call, "pass more than 0 MiB", "BucketCapMB is %g", float64(d.bucketBytes)/(1<<20))
	}
	g.sameModel(call, sortedState(m))
	for _, p := range d.params {
		g.Broadcast(p.Tensor, 0).Wait()
	}
	for _, t := range sortedState(m) {
		if !slices.ContainsFunc(d.params, func(p nn.Named) bool { return p.Name == t.Name }) {
			d.buffers = append(d.buffers, t.Tensor)
			g.Broadcast(t.Tensor, 0).Wait()
		}
	}
	d.fill()
	return d
}

// sortedState returns the tensors of a model by name.
func sortedState(m any) (list []nn.Named) {
	for name, t := range nn.StateDict(m) {
		list = append(list, nn.Named{Name: name, Tensor: t})
	}
	slices.SortFunc(list, func(a, b nn.Named) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// sameModel panics on all ranks unless a model's tensors have the same names, shapes and dtypes on all.
func (g *group) sameModel(call string, state []nn.Named) {
	var text strings.Builder
	for _, t := range state {
		fmt.Fprintf(&text, "%s %v %v\n", t.Name, t.Tensor.Shape(), t.Tensor.DType())
	}
	texts := g.gatherText(call, text.String())
	for rank, other := range texts {
		own, theirs := strings.Split(texts[g.rank], "\n"), strings.Split(other, "\n")
		for i := range max(len(own), len(theirs)) {
			a, b := line(own, i), line(theirs, i)
			if a != b {
				panic(&Error{Code: "mismatch", Call: call, Rank: g.rank, Why: fmt.Sprintf("the models differ: this rank has %s where rank %d has %s", a, rank, b), Cure: "make the same model on all ranks"})
			}
		}
	}
}

func line(list []string, i int) string {
	if i >= len(list) || list[i] == "" {
		return "nothing more"
	}
	return list[i]
}

// gatherText returns the texts of all ranks.
func (g *group) gatherText(call, text string) []string {
	size := tensor.NewAs(tensor.Int64, []float64{float64(len(text))})
	g.AllReduce(size, Max).Wait()
	n := int(size.Item())
	p := make([]byte, n)
	copy(p, text)
	all := tensor.ZerosAs(tensor.Uint8, g.size, n)
	g.AllGather(all, tensor.FromBytes(tensor.Uint8, p, n)).Wait()
	list := make([]string, g.size)
	for r := range list {
		list[r] = strings.TrimRight(string(memory.Bytes(all, false)[r*n:(r+1)*n]), "\x00")
	}
	return list
}

// RegisterCommHook replaces the reduction of buckets by h. It is
// torch.nn.parallel.DistributedDataParallel.register_comm_hook.
func (d *DistributedDataParallel) RegisterCommHook(h CommHook) {
	if h == nil {
		d.g.refuse("RegisterCommHook", "pass a hook, for example dist.BF16CompressHook", "the hook is nil")
	}
	d.hook = h
}

// NoSync runs body, in which Backward adds to the gradients of this rank only: for the accumulation of several batches. The next
// Backward outside averages the sums. It is torch.nn.parallel.DistributedDataParallel.no_sync.
func (d *DistributedDataParallel) NoSync(body func()) {
	before := d.noSync
	d.noSync = true
	defer func() { d.noSync = before }()
	body()
}

// Forward copies rank 0's buffers to all ranks and calls the module.
func (d *DistributedDataParallel) Forward(x *tensor.Tensor) *tensor.Tensor {
	src := 0
	if d.joining {
		src = d.announce(true)
	}
	d.shareBuffers(src)
	return d.Module.Forward(x)
}

// shareBuffers copies the buffers of a rank to all.
func (d *DistributedDataParallel) shareBuffers(src int) {
	if !d.broadcastBuffers || d.noSync {
		return
	}
	for _, b := range d.buffers {
		d.g.Broadcast(b, src).Wait()
	}
}

// String returns the module's text.
func (d *DistributedDataParallel) String() string {
	return fmt.Sprintf("DistributedDataParallel(\n  (module): %s\n)", strings.ReplaceAll(fmt.Sprint(d.Module), "\n", "\n  "))
}
