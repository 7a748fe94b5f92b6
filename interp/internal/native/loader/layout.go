//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

//lint:file-ignore U1000 the runtime uses all fields

package loader

import "unsafe"

// The types of this file have the layout of the types of the same names in package runtime, in each release that this
// package knows. What differs is in layout126.go and layout127.go. layout_test.go compares them with Go's source.

type itabTableType struct {
	size    uintptr
	count   uintptr
	entries [itabInitSize]*itab
}

type (
	itab     struct{}
	initTask struct{}
	_type    struct{}
	typeOff  int32
	nameOff  int32
)

type textsect struct{ vaddr, end, baseaddr uintptr }

type ptabEntry struct {
	name nameOff
	typ  typeOff
}

type modulehash struct {
	modulename   string
	linktimehash string
	runtimehash  *string
}

type bitvector struct {
	n        int32
	bytedata *uint8
}

type pcHeader struct {
	magic      uint32
	pad1, pad2 uint8
	minLC      uint8
	ptrSize    uint8
	nfunc      int
	nfiles     uint

	_ uintptr

	funcnameOffset uintptr
	cuOffset       uintptr
	filetabOffset  uintptr
	pctabOffset    uintptr
	pclnOffset     uintptr
}

type functab struct {
	entryoff uint32
	funcoff  uint32
}

type findfuncbucket struct {
	idx        uint32
	subbuckets [16]byte
}

type _func struct {
	entryOff uint32
	nameOff  int32

	args        int32
	deferreturn uint32

	pcsp      uint32
	pcfile    uint32
	pcln      uint32
	npcdata   uint32
	cuOffset  uint32
	startLine int32
	funcID    uint8
	flag      uint8
	_         [1]byte
	nfuncdata uint8
}

type inlinedCall struct {
	funcID    uint8
	_         [3]byte
	nameOff   int32
	parentPc  int32
	startLine int32
}

// Constants of packages runtime and internal/abi.
const (
	pcHeaderMagic = 0xfffffff1 // abi.CurrentPCLnTabMagic

	funcIDWrapper = 23 // abi.FuncIDWrapper
	funcFlagAsm   = 4  // abi.FuncFlagAsm

	itabInitSize = 512

	pcdataInlTree   = 2 // abi.PCDATA_InlTreeIndex
	funcdataInlTree = 3 // abi.FUNCDATA_InlTree

	bucketSize    = 4096 // abi.FuncTabBucketSize
	subbucketSize = bucketSize / 16
)

// The runtime lets other packages refer to the following symbols.

//go:linkname lastmoduledatap runtime.lastmoduledatap
var lastmoduledatap *moduledata

//go:linkname moduledataverify1 runtime.moduledataverify1
func moduledataverify1(*moduledata)

//go:linkname addReflectOff reflect.addReflectOff
func addReflectOff(unsafe.Pointer) int32

//go:linkname typelinks reflect.typelinks
func typelinks() (sections []unsafe.Pointer, offset [][]int32)

// modulesinit is the function of the runtime that makes the list of modules; it is found by
// its name in the line table.
const modulesinit = "runtime.modulesinit"

// itabInit is the function of the runtime that fills in a table of methods; it is found as
// modulesinit is.
const itabInit = "runtime.itabInit"

// Variables of the runtime, found by their names among the symbols: the table of all tables of
// methods, the caches of assertions and switches as they are at the start, and the place of
// variables without size.
const (
	itabTable                 = "runtime.itabTable"
	zeroBase                  = "runtime.zerobase"
	emptyTypeAssertCache      = "runtime.emptyTypeAssertCache"
	emptyInterfaceSwitchCache = "runtime.emptyInterfaceSwitchCache"
)
