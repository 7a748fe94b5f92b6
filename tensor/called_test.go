package tensor

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// documented matches the last words of doc comments.
var documented = regexp.MustCompile(`It\s+is\s+torch\.([\w.]*\w)`)

// declared returns the exported functions of this package, and methods of the types that have operations, with torch's names in their doc comments, or "".
func declared(t *testing.T) map[string]string {
	t.Helper()
	names := map[string]string{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			if fn.Recv != nil {
				p, ok := fn.Recv.List[0].Type.(*ast.StarExpr)
				if !ok || fmt.Sprint(p.X) != "Tensor" {
					continue
				}
			}
			name := ""
			if m := documented.FindStringSubmatch(fn.Doc.Text()); m != nil {
				path := strings.Split(m[1], ".")
				if name = path[len(path)-1]; path[0] == "linalg" {
					name = "linalg_" + name
				}
			}
			names[fn.Name.Name] = name
		}
	}
	return names
}

// TestTorchNames compares the names in errors with those in doc comments.
func TestTorchNames(t *testing.T) {
	for function, want := range declared(t) {
		if got := torchName(function); want != "" && got != want && !renamed[function] {
			t.Errorf("%s: got %s, want %s, as its doc comment says", function, got, want)
		}
	}
}

// renamed are functions that have another name than torch's, or run operations of others.
var renamed = map[string]bool{
	"Apply": true, "Backward": true, "Bernoulli": true, "Checkpoint": true, "Grad": true, "GradGraph": true, "New": true, "NoGrad": true, "Normal": true,
	"Scalar": true, "Uniform": true,
}

// TestErrorsNameTheCall calls every function and method with operands and arguments that most do not accept. An error begins with torch's name
// of what was called, and there are no panics of other kinds.
func TestErrorsNameTheCall(t *testing.T) {
	list := callables()
	refused, operations := 0, map[string]bool{}
	for _, c := range list {
		if unswept[c.name] {
			continue
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 150 {
			in := make([]reflect.Value, c.f.Type().NumIn())
			for i := range in {
				in[i] = anyValue(r, c.f.Type().In(i), i == 0)
			}
			err := refusal(c.f, in)
			if err == nil {
				continue
			}
			refused++
			operations[c.name] = true
			want := torchName(c.name)
			if e, ok := err.(*Error); !ok {
				t.Errorf("%s%s: %v", c.name, listed(in), err)
				break
			} else if want != "" && (!sameOp(e.Op, want) || strings.HasSuffix(want, "_") && e.Op != want) {
				t.Errorf("%s%s: the error begins with %q, want %q: %v", c.name, listed(in), e.Op, want, err)
				break
			}
			if regexp.MustCompile(`p__|functional|%!|0x`).MatchString(err.Error()) {
				t.Errorf("%s: internal names in %v", c.name, err)
				break
			}
		}
	}
	t.Logf("%d calls refused by %d operations of %d", refused, len(operations), len(list))
}

// callable is a function or method that runs an operation.
type callable struct {
	name string
	f    reflect.Value
}

func callables() (list []callable) {
	for _, of := range []any{&Tensor{}, KeepDim{}, functional{}} {
		v := reflect.TypeOf(of)
		for i := range v.NumMethod() {
			list = append(list, callable{v.Method(i).Name, v.Method(i).Func})
		}
	}
	for _, f := range functions {
		name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
		list = append(list, callable{name[strings.LastIndex(name, ".")+1:], reflect.ValueOf(f)})
	}
	return list
}

// functions are the exported functions with operands.
var functions = []any{
	AllClose, AlphaDropout, BatchNorm, Bilinear, BroadcastTensors, CartesianProd, Cat, ChainMatMul, Conv1d, Conv2d, Conv3d, ConvTBC, ConvTranspose1d,
	ConvTranspose2d, ConvTranspose3d, DStack, Dropout, Einsum, Embedding, EmbeddingBag, Equal, FeatureAlphaDropout, FeatureDropout, Full, FullAs, FullLike,
	GRUCell, GroupNorm, HStack, InstanceNorm, LSTMCell, LayerNorm, Linear, Linspace, Logspace, Meshgrid, MultiDot, Ones, OnesLike, PromoteTypes,
	RMSNorm, RNNReLUCell, RNNTanhCell, RReLU, RandLike, Randint, RandnLike, Randperm, ResultType, Stack, TrilIndices, TriuIndices, VStack, Zeros, ZerosLike,
}

// unswept are methods that do not run an operation, and pools, whose number of dimensions is that of a layer.
var unswept = map[string]bool{
	"RegisterHook": true, "WriteTo": true, "Grad": true, "SetGrad": true,
	"AdaptiveAvgPool": true, "AdaptiveMaxPool": true, "AvgPool": true, "LPPool": true, "MaxPool": true, "MaxPoolIndices": true, "MaxUnpool": true,
}

func listed(in []reflect.Value) string {
	var parts []string
	for _, v := range in {
		if t, ok := v.Interface().(*Tensor); ok && t != nil {
			parts = append(parts, fmt.Sprint(t.dtype, t.shape))
			continue
		}
		parts = append(parts, fmt.Sprintf("%+v", v.Interface()))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// refusal calls f and returns what it panics with.
func refusal(f reflect.Value, in []reflect.Value) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			err = p
		default:
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if f.Type().IsVariadic() {
		f.CallSlice(in)
	} else {
		f.Call(in)
	}
	return nil
}

// anyValue returns a value of type t: of tensors one of an unusual dtype, rank or size, and nil unless it is a receiver.
func anyValue(r *rand.Rand, t reflect.Type, receiver bool) reflect.Value {
	pick := func(of ...any) reflect.Value { return reflect.ValueOf(of[r.IntN(len(of))]).Convert(t) }
	switch {
	case t == reflect.TypeFor[*Tensor]():
		n := 12
		if !receiver {
			n = 13
		}
		var x *Tensor
		switch r.IntN(n) {
		case 0:
			x = Ones()
		case 1:
			x = Ones(3)
		case 2:
			x = Ones(2, 3)
		case 3:
			x = Ones(3, 3)
		case 4:
			x = Ones(2, 3, 4)
		case 5:
			x = Ones(2, 3, 4, 5)
		case 6:
			x = Ones(0, 3)
		case 7:
			x = Ones(2, 3).To(Int64)
		case 8:
			x = Ones(2, 3).To(Bool)
		case 9:
			x = Ones(4, 5).To(BFloat16)
		case 10:
			x = Full(math.NaN(), 3, 3)
		case 11:
			x = Ones(2, 3).To(Float8E4M3)
		}
		return reflect.ValueOf(x)
	case t == reflect.TypeFor[KeepDim]():
		return reflect.ValueOf(KeepDim{anyValue(r, reflect.TypeFor[*Tensor](), true).Interface().(*Tensor)})
	case t == reflect.TypeFor[DType]():
		return pick(DType(0), Float32, Int64, Bool, Float16)
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint8:
		return pick(-7, -1, 0, 1, 3)
	case reflect.Float64, reflect.Float32:
		return pick(math.NaN(), -1.0, 0.0, 0.5, 2.0, math.Inf(1))
	case reflect.String:
		return pick("", "x", "ij,jk->ik", "nuc", "mean")
	case reflect.Bool:
		return pick(false, true)
	case reflect.Slice:
		s := reflect.MakeSlice(t, r.IntN(4), 4)
		for i := range s.Len() {
			s.Index(i).Set(anyValue(r, t.Elem(), false))
		}
		return s
	case reflect.Struct:
		s := reflect.New(t).Elem()
		for i := range s.NumField() {
			if s.Field(i).CanSet() && r.IntN(2) == 0 {
				s.Field(i).Set(anyValue(r, s.Field(i).Type(), false))
			}
		}
		return s
	}
	return reflect.Zero(t)
}

// TestErrorsOfDevices calls functions and methods of several tensors with one operand on another device than the others. The error says which devices
// these are, and begins with torch's name of what was called.
func TestErrorsOfDevices(t *testing.T) {
	moved, refused := map[string]bool{}, 0
	for _, c := range callables() {
		if unswept[c.name] || mixes[c.name] {
			continue
		}
		r := rand.New(rand.NewPCG(3, 4))
		for range 400 {
			in := make([]reflect.Value, c.f.Type().NumIn())
			for i := range in {
				in[i] = anyValue(r, c.f.Type().In(i), i == 0)
			}
			at := operandsAt(in)
			if len(at) < 2 || refusal(c.f, in) != nil {
				continue
			}
			i := at[r.IntN(len(at))]
			x := in[i].Interface().(*Tensor)
			if x.Dim() == 0 || !slices.ContainsFunc(at, func(j int) bool { return j != i && in[j].Interface().(*Tensor).Dim() > 0 }) {
				continue // scalars follow
			}
			in[i] = reflect.ValueOf(x.Detach().ToDevice("other"))
			moved[c.name] = true
			err := refusal(c.f, in)
			if e, ok := err.(*Error); !ok || !strings.Contains(e.Why, "device") {
				t.Errorf("%s%s, operand %d on another device: %v", c.name, listed(in), i, err)
				break
			} else if want := torchName(c.name); want != "" && !sameOp(e.Op, want) {
				t.Errorf("%s: the error begins with %q, want %q: %v", c.name, e.Op, want, err)
				break
			}
			refused++
		}
	}
	t.Logf("%d calls refused by %d functions", refused, len(moved))
}

// mixes are functions whose operands may be on different devices: they copy, read only a shape, or compute on the host.
var mixes = map[string]bool{
	"AllClose": true, "Assign": true, "Bucketize": true, "Equal": true, "IsIn": true, "MultiLabelMarginLoss": true, "ReshapeAs": true, "Searchsorted": true,
	"SetData": true, "ViewAs": true,
}

// operandsAt returns the positions of the tensors among arguments.
func operandsAt(in []reflect.Value) (at []int) {
	for i, v := range in {
		if x, ok := v.Interface().(*Tensor); ok && x != nil {
			at = append(at, i)
		}
	}
	return at
}
