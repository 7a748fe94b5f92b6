package mpi

import (
	"fmt"
	"unsafe"
)

// abi is a binary interface of MPI: the values of the handles and constants that this package uses.
type abi struct {
	name                          string
	world, byteType, errorsReturn uintptr
	float, sum                    uintptr // for comparisons with the sums of the library
	inPlace                       uintptr
	serialized                    uintptr
	intRequest                    bool // a request is an int, not a pointer
}

// The values are those of mpi_abi.h of MPI 5.0 and of mpi.h of MPICH 5.0. In Open MPI handles are addresses of symbols, so
// only the constants are here (mpi.h of Open MPI 5.0).
var (
	standard = abi{name: "MPI 5 standard ABI", world: 0x101, byteType: 0x247, float: 0x210, sum: 0x21, errorsReturn: 0x143, inPlace: 1, serialized: 2048}
	mpich    = abi{name: "MPICH ABI", world: 0x44000000, byteType: 0x4c00010d, float: 0x4c00040a, sum: 0x58000003, errorsReturn: 0x54000001, inPlace: ^uintptr(0), serialized: 2, intRequest: true}
	openMPI  = abi{name: "Open MPI ABI", inPlace: 1, serialized: 2}
)

// abiOf returns the interface of a loaded library.
func abiOf(lib library) (abi, error) {
	if world := lib.symbol("ompi_mpi_comm_world"); world != 0 {
		a := openMPI
		a.world, a.byteType, a.errorsReturn = world, lib.symbol("ompi_mpi_byte"), lib.symbol("ompi_mpi_errors_return")
		a.float, a.sum = lib.symbol("ompi_mpi_float"), lib.symbol("ompi_mpi_op_sum")
		if a.byteType == 0 || a.errorsReturn == 0 {
			return abi{}, fmt.Errorf("the library has ompi_mpi_comm_world but not ompi_mpi_byte and ompi_mpi_errors_return; want Open MPI 1.5 or newer")
		}
		return a, nil
	}
	// A library of another interface says version -1.
	if f := lib.symbol("MPI_Abi_get_version"); f != 0 {
		major, minor := int32(-1), int32(-1)
		if lib.call(f, uintptr(unsafe.Pointer(&major)), uintptr(unsafe.Pointer(&minor))) == 0 && major >= 1 {
			return standard, nil
		}
	}
	return mpich, nil
}
