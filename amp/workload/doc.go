// Package workload provides the training steps with which halfnote's speed is measured, and the
// rows that hold such measurements.
//
//	full, half := workload.NewMLP(workload.LaptopMLP(), "float32"), workload.NewMLP(workload.LaptopMLP(), "bfloat16")
//	rows := workload.Compare(12, full, half)
//	rows.Throughput() // a chart
//
// The steps are those of an MLP, a ResNet and a BERT, from made-up data, in float32 or
// under autocast: [NewMLP], [NewResNet], [NewBERT]. The command halfnote bench runs them, and
// single operations, in turn with PyTorch and OpenBLAS; its --json prints what [ReadRows]
// reads:
//
//	!halfnote bench mlp --json > mlp.json
//	rows, err := workload.ReadRows("mlp.json")
//
// The package does not start other processes: package bench below it starts the peers.
package workload
