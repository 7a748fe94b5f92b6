package lower

import (
	"encoding/binary"
	"fmt"
	"go/ast"
	"hash"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/tools/go/types/typeutil"

	"halfnote/interp/internal/dynamic"
)

// Mutation is the number of the condition that is negated; 0 means none.
var Mutation atomic.Int64

// A Survey finds out which conditions of a sample matter to a script.
type Survey struct {
	Sample  []int
	Met     map[int]int  // values that a condition has had: 1 for false, 2 for true
	Changed map[int]bool // conditions whose negation changes a unit, or that are met outside Lower
	Before  map[int]int  // scripts before in which the negation of a condition changes a unit
	Spent   time.Duration

	met   [1 << 13]atomic.Uint32 // values that each condition has had since the last call of note
	in    atomic.Bool            // whether a unit is lowered
	steps atomic.Int64           // conditions met since the rewrites began
}

// Surveying is the survey in progress, or nil.
var Surveying atomic.Pointer[Survey]

// Often is the number of scripts after which a condition counts as one that changes each unit that meets it.
const Often = 3

// endless is the number of conditions after which the rewrites of a unit count as endless.
const endless = 1 << 24

func met__(n int, c bool) bool {
	if s := Surveying.Load(); s != nil {
		if c {
			s.met[n].Or(2)
		} else {
			s.met[n].Or(1)
		}
		if s.in.Load() && s.steps.Add(1) > endless {
			panic("endless")
		}
	}
	return c != (int64(n) == Mutation.Load())
}

// Note collects the conditions that have been met, and returns them.
func (s *Survey) Note() (met []int) {
	for _, n := range s.Sample {
		if values := s.met[n].Swap(0); values != 0 {
			s.Met[n] |= int(values)
			met = append(met, n)
		}
	}
	return met
}

// Lower lowers a unit. A survey first lowers copies of it, with each condition that it meets negated.
func (u *Unit) Lower(needs []string) error {
	s := Surveying.Load()
	if s == nil {
		return u.rewrite__(needs)
	}
	for _, n := range s.Note() {
		s.Changed[n] = true // by the front end
	}
	s.in.Store(true)
	defer s.in.Store(false)
	start := time.Now()
	want := s.rewritten(u, needs, 0)
	for _, n := range s.Note() {
		if !s.Changed[n] {
			s.Changed[n] = s.Before[n] >= Often || s.rewritten(u, needs, n) != want
		}
	}
	s.Spent += time.Since(start)
	s.steps.Store(0)
	err := u.rewrite__(needs)
	clear(s.met[:])
	return err
}

// rewritten returns a hash of all that a copy of a unit consists of after its rewrites, or why these fail.
func (s *Survey) rewritten(u *Unit, needs []string, mutation int) (result string) {
	defer func() {
		Mutation.Store(0)
		if r := recover(); r != nil {
			result = fmt.Sprint("panic: ", r)
		}
	}()
	c := u.copied()
	defer c.Types.Close()
	s.steps.Store(0)
	Mutation.Store(int64(mutation))
	err := c.rewrite__(needs)
	Mutation.Store(0)
	d := digest{fnv.New64a(), map[any]int{}}
	fmt.Fprintln(d, err, c.Marks, c.Functions)
	space, hasher := strings.TrimSuffix(strconv.Quote(c.Types.Tag("")), `\""`)[1:], typeutil.MakeHasher()
	ast.Inspect(c.File, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok {
			lit.Value = strings.ReplaceAll(lit.Value, space, "")
		}
		if e, ok := n.(ast.Expr); ok {
			if t := c.typeOf(e); t != nil {
				d.number(int64(hasher.Hash(t)))
			}
		}
		return true
	})
	d.add(reflect.ValueOf(c.File))
	return fmt.Sprint(d.Sum64())
}

// A digest hashes trees. It numbers pointers.
type digest struct {
	hash.Hash64
	known map[any]int
}

func (d digest) number(n int64) { d.Write(binary.LittleEndian.AppendUint64(nil, uint64(n))) }

func (d digest) add(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || !copies(v.Type().Elem()) {
			return
		}
		n, known := d.known[v.Interface()]
		if d.number(int64(n)); !known {
			d.known[v.Interface()] = len(d.known) + 1
			d.add(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			d.Write([]byte(v.Elem().Type().String()))
			d.add(v.Elem())
		}
	case reflect.Slice:
		d.number(int64(v.Len()))
		for i := range v.Len() {
			d.add(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			d.add(v.Field(i))
		}
	case reflect.String:
		d.number(int64(v.Len()))
		d.Write([]byte(v.String()))
	case reflect.Bool:
		d.Write(strconv.AppendBool(nil, v.Bool()))
	case reflect.Int:
		d.number(v.Int())
	}
}

// copied returns a copy of a unit that shares no tree with it.
func (u *Unit) copied() *Unit {
	c := copier{}
	x := *u
	x.Tree = c.copy(reflect.ValueOf(u.Tree)).Interface().(Tree)
	x.written = maps.Clone(u.written)
	for e, t := range u.written {
		x.written[c.copy(reflect.ValueOf(&e).Elem()).Interface().(ast.Expr)] = t
	}
	x.Types = dynamic.NewSpace() // negations would describe types wrongly for all cells
	x.Functions, x.Marks = maps.Clone(u.Functions), slices.Clone(u.Marks)
	return &x
}

// A copier copies trees and what is known about their nodes. Types and objects are shared. It holds the copies of pointers.
type copier map[any]reflect.Value

func (c copier) copy(v reflect.Value) reflect.Value {
	x := reflect.New(v.Type()).Elem()
	x.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || !copies(v.Type().Elem()) {
			return v
		}
		if known, ok := c[v.Interface()]; ok {
			return known
		}
		x.Set(reflect.New(v.Type().Elem()))
		c[v.Interface()] = x
		x.Elem().Set(c.copy(v.Elem()))
	case reflect.Interface:
		if !v.IsNil() {
			x.Set(c.copy(v.Elem()))
		}
	case reflect.Slice:
		x.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			x.Index(i).Set(c.copy(v.Index(i)))
		}
		if v.IsNil() {
			return v
		}
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		x.Set(reflect.MakeMap(v.Type()))
		for i := v.MapRange(); i.Next(); {
			x.SetMapIndex(c.copy(i.Key()), c.copy(i.Value()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if copies(v.Type()) && v.Type().Field(i).IsExported() {
				x.Field(i).Set(c.copy(v.Field(i)))
			}
		}
	}
	return x
}

// copies reports whether values of a struct type belong to a unit alone.
func copies(t reflect.Type) bool {
	return t == reflect.TypeFor[Tree]() || strings.HasPrefix(t.String(), "ast.") && t.String() != "ast.Object" && t.String() != "ast.Scope" || t.String() == "types.Info"
}
