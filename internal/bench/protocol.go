package bench

// Spec describes a piece of work to the processes.
type Spec struct {
	Work  string `json:"work"` // "gemm", "op", "format", "copy", "tape", "mlp", "resnet", "bert"
	DType string `json:"dtype"`
	Op    string `json:"op,omitempty"`    // name of the operation for "op"; direction and format for "format"; transposed operand for "gemm": "NN", "NT", "TN"; passes for "tape"
	Grad  bool   `json:"grad,omitempty"`  // whether "op" includes the backward pass
	Graph bool   `json:"graph,omitempty"` // whether halfnote captures and replays training steps; peers ignore it
	Shape []int  `json:"shape,omitempty"` // [batch,] m, n, k for "gemm"; shape of the operand for "op"; sizes for training steps
}

// request is a request to a process. "about" asks for its description, "prepare" makes the job
// of a spec under a key, "run" does the job n times unmeasured and n times measured, and
// "forget" releases it.
type request struct {
	Do   string `json:"do"`
	Key  string `json:"key,omitempty"`
	Spec *Spec  `json:"spec,omitempty"`
	N    int    `json:"n,omitempty"`
	Cold bool   `json:"cold,omitempty"` // whether to run without the unmeasured repetitions
}

// reply answers a request.
type reply struct {
	Error  string    `json:"error,omitempty"`
	About  string    `json:"about,omitempty"`  // "PyTorch 2.15.0, AVX512"
	Core   string    `json:"core,omitempty"`   // kernels that OpenBLAS has chosen
	NS     int64     `json:"ns,omitempty"`     // elapsed nanoseconds of a run
	CPU    int64     `json:"cpu,omitempty"`    // nanoseconds of processor time of all threads
	Losses []float64 `json:"losses,omitempty"` // losses of training steps
	Peak   int       `json:"peak,omitempty"`   // peak bytes of tensors since the work was prepared; from halfnote, and from peers on a GPU
}
