#!/bin/sh
# Runs a go command with the tag cuda and the flags that it needs:
#
#	cuda/build.sh build .
#	cuda/build.sh test ./cuda/...
#
# gcc is enough: neither a toolkit nor a driver need be there. Our folders come
# first, so that a toolkit's cuda.h is not read and its libcuda is not linked.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
export CGO_ENABLED=1
export CGO_CFLAGS="'-I$root/cuda/include' ${CGO_CFLAGS--O2 -g}"
export CGO_LDFLAGS="'-L$root/cuda/internal/link/ld' ${CGO_LDFLAGS--O2 -g}"
command=$1
shift
exec go "$command" -tags cuda "$@"
