package object

import (
	"encoding/binary"
	"fmt"
)

// FuncInfo describes a function. It is goobj's FuncInfo.
type FuncInfo struct {
	Args      uint32 // bytes of arguments and results on the stack
	ID, Flags uint8  // of runtime._func
	StartLine int32
	Inlined   []Inlined
}

// Inlined is a call that the compiler has replaced by the body of the function.
type Inlined struct {
	Func     Ref
	ParentPC int32 // offset of an instruction whose line is that of the call
}

// ReadFuncInfo reads the content of an auxiliary symbol of type AuxFuncInfo.
func ReadFuncInfo(b []byte) (*FuncInfo, error) {
	const head, call = 16, 24
	bad := fmt.Errorf("object: the description of a function has %d bytes, which are not enough", len(b))
	u32 := func(off int) uint32 { return binary.LittleEndian.Uint32(b[off:]) }
	if len(b) < head+4 {
		return nil, bad
	}
	calls := head + 4 + 4*int(u32(head)) // after the list of files
	if len(b) < calls+4 {
		return nil, bad
	}
	f := &FuncInfo{Args: u32(0), ID: b[8], Flags: b[9], StartLine: int32(u32(12))}
	n := int(u32(calls))
	if (len(b)-calls-4)/call < n {
		return nil, bad
	}
	for i := range n {
		at := calls + 4 + i*call
		f.Inlined = append(f.Inlined, Inlined{Ref{u32(at + 12), u32(at + 16)}, int32(u32(at + 20))})
	}
	return f, nil
}
