#!/bin/sh
# Checks and measures halfnote on a machine with an NVIDIA GPU; Go is not needed there:
#
#	cuda/check.sh pack DIR          # where Go is: builds programs into DIR/programs.tar.xz
#	cuda/check.sh run DIR OUT       # where the GPU is, in a checkout: tests, then tables
#
# OUT receives tests.txt, confirm.txt (comparison of PyTorch's numbers with those that halfnote
# expects), figures.txt (timings of single operations), a table and a chart per bench subject, and
# summary.txt. PYTHON names a Python with PyTorch, default python3; SECONDS_EACH limits each part,
# default 150; PARTS is a subset of "tests confirm figures bench", default all.
set -u
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
packages="cuda cuda/internal/drv cuda/internal/lt cuda/internal/gpu tensor/torchtest amp"

pack() {
	mkdir -p "$1" && dir=$(cd "$1" && pwd) && cd "$root" || exit 1
	work=$(mktemp -d)
	"$root/cuda/build.sh" build -ldflags "-s -w" -o "$work/halfnote" . || exit 1
	for package in $packages; do
		name=$(echo "$package" | tr / -).test
		"$root/cuda/build.sh" test -c -ldflags "-s -w" -o "$work/$name" "./$package" || exit 1
	done
	# The programs share much code; one compression window over all of them exploits that.
	(cd "$work" && tar cf - halfnote ./*.test) | xz -T1 --lzma2=preset=9,dict=512MiB >"$dir/programs.tar.xz" || exit 1
	rm -rf "$work"
	ls -l "$dir"
}

run() {
	mkdir -p "$2" || exit 1
	dir=$(cd "$1" && pwd) out=$(cd "$2" && pwd) work=$(mktemp -d)
	limit=${SECONDS_EACH:-150} python=${PYTHON:-python3}
	"$python" -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$dir/programs.tar.xz" "$work" || exit 1
	{ nvidia-smi || true; "$work/halfnote" version; "$work/halfnote" doctor; } >"$out/summary.txt" 2>&1
	parts=${PARTS:-tests confirm figures bench}
	for part in $parts; do
		$part
	done
	rm -rf "$work"
}

tests() {
	for package in $packages; do
		program=$work/$(echo "$package" | tr / -).test
		[ -f "$program" ] || continue
		case $package in tensor/* | amp) only=OnGPU ;; *) only=. ;; esac
		echo "== $package"
		(cd "$root/$package" && HALFNOTE_CUDA_TEST=device timeout "$limit" "$program" -test.v -test.run "$only" -test.skip '^TestFigures' 2>&1) >"$work/log"
		code=$?
		grep -E '^ *(--- FAIL|FAIL|PASS|panic)' "$work/log" | head -n 40
		echo "exit $code, $(grep -c -- '--- PASS' "$work/log") passed, $(grep -c -- '--- FAIL' "$work/log") failed"
		{ echo "== $package, exit $code"; cat "$work/log"; } >>"$out/tests.txt"
	done
}

confirm() {
	echo "== confirm"
	timeout "$limit" "$python" "$root/cuda/testdata/confirm.py" >"$out/confirm.txt" 2>&1
	echo "exit $?"
	tail -n 30 "$out/confirm.txt"
}

figures() {
	echo "== figures"
	(cd "$root/cuda/internal/gpu" && HALFNOTE_CUDA_TEST=device timeout "$limit" "$work/cuda-internal-gpu.test" -test.v -test.run '^TestFigures$' 2>&1) >"$work/log"
	echo "exit $?"
	grep -E '^ *(--- FAIL|panic)' "$work/log"
	{ echo "== figures"; cat "$work/log"; } >>"$out/tests.txt"
	sed -n 's/^.*figure: //p' "$work/log" | tee "$out/figures.txt"
}

bench() {
	for subject in gemm mlp resnet bert; do
		echo "== bench $subject"
		(cd "$out" && timeout "$limit" "$work/halfnote" bench "$subject" --device cuda --preset full --rounds 5 --peer torch --python "$(command -v "$python")") >"$out/$subject.txt" 2>&1
		echo "exit $?"
		tail -n 30 "$out/$subject.txt"
	done
}

case "${1-} $#" in
"pack 2") pack "$2" ;;
"run 3") run "$2" "$3" ;;
*)
	sed -n '2,11s/^# \{0,1\}//p' "$0"
	exit 2
	;;
esac
