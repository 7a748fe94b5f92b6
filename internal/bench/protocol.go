package bench

// Spec is a piece of work, as the processes are told.
type Spec struct {
	Work  string `json:"work"` // "gemm", "op", "copy", "tape", "mlp", "resnet", "bert"
	DType string `json:"dtype"`
	Op    string `json:"op,omitempty"`    // of "op"; of "gemm" which operand is transposed: "NN", "NT", "TN"; of "tape" how far
	Grad  bool   `json:"grad,omitempty"`  // of "op": backward, too
	Graph bool   `json:"graph,omitempty"` // of steps: ours is captured and replayed, which peers take no notice of
	Shape []int  `json:"shape,omitempty"` // of "gemm" [batch,] m, n, k; of "op" its operand's; of steps their sizes
}

// request is what a process is asked. About asks who it is, prepare makes what spec needs
// under a key, run does that n times, once unmeasured and once measured, forget lets it go.
type request struct {
	Do   string `json:"do"`
	Key  string `json:"key,omitempty"`
	Spec *Spec  `json:"spec,omitempty"`
	N    int    `json:"n,omitempty"`
	Cold bool   `json:"cold,omitempty"` // run without the unmeasured ones
}

// reply answers a request.
type reply struct {
	Error  string    `json:"error,omitempty"`
	About  string    `json:"about,omitempty"`  // "PyTorch 2.15.0, AVX512"
	Core   string    `json:"core,omitempty"`   // of OpenBLAS: the kernels that it chose
	NS     int64     `json:"ns,omitempty"`     // nanoseconds that a run took
	CPU    int64     `json:"cpu,omitempty"`    // nanoseconds of processor time that all threads took
	Losses []float64 `json:"losses,omitempty"` // of training steps
	Peak   int       `json:"peak,omitempty"`   // bytes of tensors at most, since work was prepared; ours, and of peers on a GPU
}
