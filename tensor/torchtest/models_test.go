package torchtest

import (
	"encoding/json"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// expected is the contents of testdata/models.json, which make_models.py wrote.
type expected struct {
	ResNet struct {
		Images uint32 // the CRC-32 of their bytes
		Losses []float64
		Logits [][]float64
	} `json:"resnet-8"`
	BERT struct{ Losses []float64 }
	Base struct {
		Logits [][]float64
		Names  [][2]any
	} `json:"bert-base"`
}

func readJSON(t *testing.T, path string, to any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// spread returns n numbers from -1 to 1: 24 bits of a hash of the index and the name.
func spread(name string, n int) []float32 {
	seed := crc32.ChecksumIEEE([]byte(name))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(mixed(int(uint32(i)+seed))>>8)*0x1p-23 - 1
	}
	return x
}

// weightOf returns the weight with this name and shape by the rule of make_models.py.
func weightOf(name string, shape []int) T {
	n := 1
	for _, s := range shape {
		n *= s
	}
	x := spread(name, n)
	scale, shift := float32(0.125), float32(0)
	switch {
	case len(shape) > 1:
		scale = float32(math.Sqrt(3 * float64(shape[0]) / float64(n)))
	case strings.HasSuffix(name, "weight"):
		shift = 1
	}
	for i := range x {
		x[i] = float32(x[i]*scale) + shift
	}
	return tensor.FromFloat32s(x, shape...)
}

// fill sets every parameter of a model from its name.
func fill(model any) {
	tensor.NoGrad(func() {
		for _, p := range nn.NamedParameters(model) {
			p.Tensor.Assign(weightOf(p.Name, p.Tensor.Shape()))
		}
	})
}

// tweets are testdata/tweets.json: synthetic tweets as tokens.
type tweets struct {
	Texts  []string `json:"texts"`
	Labels []int    `json:"labels"`
	IDs    [][]int  `json:"ids"`
}

// TestTweets checks the tokens on which PyTorch's BERT was trained. With -update it writes them.
func TestTweets(t *testing.T) {
	var got, want tweets
	got.Texts, got.Labels = data.SyntheticTweets(32, 11)
	vocabulary := data.Vocabulary(got.Texts, 200)
	tokenizer, err := data.NewTokenizer(vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	batch := tokenizer.EncodeAll(got.Texts, data.TextOptions{MaxLength: 16, PadTo: 16})
	for i := range got.Texts {
		got.IDs = append(got.IDs, batch.IDs.Select(0, i).Ints())
	}
	const file = "testdata/tweets.json"
	if *update {
		text, _ := json.Marshal(got)
		if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	readJSON(t, file, &want)
	for i := range got.IDs {
		if !slices.Equal(got.IDs[i], want.IDs[i]) || got.Labels[i] != want.Labels[i] {
			t.Errorf("%q: got tokens %v and label %d, want %v and %d", got.Texts[i], got.IDs[i], got.Labels[i], want.IDs[i], want.Labels[i])
		}
	}
}

// TestResNet8 trains ResNet-8 on a CIFAR-10 file of synthetic images as PyTorch does,
// from the same weights, in float64: batches of four images make normalization so
// sensitive that in float32 the last bit of the images changes the later losses.
func TestResNet8(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	var want expected
	readJSON(t, "testdata/models.json", &want)
	steps := len(want.ResNet.Losses) / testenv.Share(t, 3)
	made := data.SyntheticCIFAR(64, 5)
	path := filepath.Join(t.TempDir(), "data_batch_1.bin")
	if err := data.SaveCIFAR10(path, made.Fields[0], made.Fields[1]); err != nil {
		t.Fatal(err)
	}
	set, err := data.LoadCIFAR10(path, true)
	if err != nil {
		t.Fatal(err)
	}
	sum := crc32.NewIEEE()
	set.Fields[0].WriteTo(sum)
	if sum.Sum32() != want.ResNet.Images {
		t.Fatalf("the images' checksum is %d, want %d", sum.Sum32(), want.ResNet.Images)
	}
	input := func(images T) T { return images.Double().DivScalar(255).SubScalar(0.5).DivScalar(0.25) }

	net := models.NewCIFARResNet(8, models.ResNetOptions{})
	fill(net)
	nn.ToDType(net, tensor.Float64)
	opt := optim.NewSGD(nn.Parameters(net), 0.02, optim.Momentum(0.9), optim.WeightDecay(5e-4))
	batches := data.NewLoader(set, 4).Batches()
	var losses []float64
	for i := range steps {
		b := batches[i%len(batches)]
		loss := nn.CrossEntropy(net.Forward(input(b.Input)), b.Target)
		opt.ZeroGrad()
		loss.Backward()
		opt.Step()
		losses = append(losses, loss.Item())
	}
	sameLosses(t, losses, want.ResNet.Losses[:steps])
	if steps < len(want.ResNet.Losses) {
		return
	}
	nn.Eval(net)
	var logits T
	tensor.NoGrad(func() { logits = net.Forward(input(set.Fields[0].Slice(0, 0, 3))) })
	near(t, "logits after training", logits, want.ResNet.Logits, 1e-9)
}

// near compares a matrix with the rows that PyTorch computed.
func near(t *testing.T, what string, got T, want [][]float64, tolerance float64) {
	t.Helper()
	worst := 0.0
	for i, row := range want {
		for j, w := range row {
			worst = max(worst, math.Abs(got.At(i, j)-w))
		}
	}
	if !(worst <= tolerance) {
		t.Errorf("%s: got %v, want %v: they differ by %.2g", what, got, want, worst)
	}
	t.Logf("%s: the largest difference is %.2g", what, worst)
}
func readTweets(t *testing.T) (models.BERTInput, T) {
	var w tweets
	readJSON(t, "testdata/tweets.json", &w)
	var ids []int
	var labels []float64
	for i, row := range w.IDs {
		ids, labels = append(ids, row...), append(labels, float64(w.Labels[i]))
	}
	x := tensor.FromInts(ids, len(labels), len(ids)/len(labels))
	return models.BERTInput{IDs: x, Mask: x.NeScalar(0)}, tensor.New(labels)
}

// TestBERT trains BERT with two layers on synthetic tweets as PyTorch does.
func TestBERT(t *testing.T) {
	var want expected
	readJSON(t, "testdata/models.json", &want)
	in, labels := readTweets(t)
	words := 0
	for _, id := range in.IDs.Ints() {
		words = max(words, id+1)
	}
	n, length := in.IDs.Size(0), in.IDs.Size(1)
	net := models.NewBERTClassifier(models.BERTConfig{
		Vocabulary: words, Hidden: 32, Layers: 2, Heads: 4, Intermediate: 64, Positions: length, Types: 2, NoPooler: true,
	}, 1)
	fill(net)
	opt := optim.NewAdamW(nn.Parameters(net), 1e-3)
	var losses []float64
	for i := range want.BERT.Losses {
		from := i * 8 % n
		rows := func(x T) T { return x.Slice(0, from, from+8) }
		logits := net.ForwardInput(models.BERTInput{IDs: rows(in.IDs), Mask: rows(in.Mask)})
		loss := nn.BinaryCrossEntropyWithLogits(logits.Squeeze(1), rows(labels))
		opt.ZeroGrad()
		loss.Backward()
		opt.Step()
		losses = append(losses, loss.Item())
	}
	sameLosses(t, losses, want.BERT.Losses)
}

// TestBERTBase reads a checkpoint in the layout of bert-base-uncased, with 12 layers of 768
// features and 109 million weights, and compares the logits with PyTorch's.
func TestBERTBase(t *testing.T) {
	testenv.Long(t) // it writes and reads 438 MB
	var want expected
	readJSON(t, "testdata/models.json", &want)
	state := map[string]T{}
	for _, n := range want.Base.Names {
		var shape []int
		for _, s := range n[1].([]any) {
			shape = append(shape, int(s.(float64)))
		}
		state[n[0].(string)] = weightOf(n[0].(string), shape)
	}
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := data.SaveSafetensors(path, state, nil); err != nil {
		t.Fatal(err)
	}
	state, err := data.LoadSafetensors(path)
	if err != nil {
		t.Fatal(err)
	}
	net := models.NewBERTClassifier(models.BERTBase(), 2)
	if fresh, err := models.LoadBERT(net, state); err != nil || len(fresh) > 0 {
		t.Fatalf("the checkpoint lacks %v; got error %v", fresh, err)
	}
	nn.Eval(net)
	in, _ := readTweets(t)
	var logits T
	tensor.NoGrad(func() {
		logits = net.ForwardInput(models.BERTInput{IDs: in.IDs.Slice(0, 0, 2), Mask: in.Mask.Slice(0, 0, 2)})
	})
	near(t, "logits", logits, want.Base.Logits, 1e-4)
}
