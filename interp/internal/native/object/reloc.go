package object

// RelocType says how a place refers to a symbol. It is cmd/internal/objabi.RelocType.
type RelocType uint16

const (
	Addr           RelocType = 1
	AddrARM64      RelocType = 3
	AddrOff        RelocType = 5
	Call           RelocType = 7
	CallARM64      RelocType = 9
	PCRel          RelocType = 14
	ThreadLocal    RelocType = 16 // R_TLS_IE: the place of the offset of the current goroutine in the thread
	UseField       RelocType = 21
	UseNamedMethod RelocType = 25
	MethodOff      RelocType = 26
	Keep           RelocType = 27
	GOTPCRel       RelocType = 29
	GOTPCRelARM64  RelocType = 34
	Load8ARM64     RelocType = 37 // R_ARM64_PCREL_LDST8: the place of a byte that an instruction loads or stores
	Load16ARM64    RelocType = 38
	Load32ARM64    RelocType = 39
	Load64ARM64    RelocType = 40
	weak                     = 1 << 15
)

// Marker reports whether relocations of the type only tell the linker what to keep.
func (t RelocType) Marker() bool {
	return t >= UseField && t <= UseNamedMethod || t == Keep || t == InitOrder
}

// Call reports whether relocations of the type are calls.
func (t RelocType) Call() bool { return t == Call || t == CallARM64 }
