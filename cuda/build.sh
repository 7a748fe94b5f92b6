#!/bin/sh
# Runs a go command with the tag cuda and its flags:
#
#	cuda/build.sh build .
#	cuda/build.sh test ./cuda/...
#
# It needs gcc, but neither a CUDA toolkit nor a driver. This repository's folders come first, so
# that a toolkit's cuda.h and libcuda are not used.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
export CGO_ENABLED=1
export CGO_CFLAGS="'-I$root/cuda/include' ${CGO_CFLAGS--O2 -g}"
export CGO_LDFLAGS="'-L$root/cuda/internal/link/ld' ${CGO_LDFLAGS--O2 -g}"
command=$1
shift
exec go "$command" -tags cuda "$@"
