#!/bin/sh
# Checks and measures halfnote on a machine with an NVIDIA GPU in fifteen minutes; Go is not needed there:
#
#	cuda/check.sh plan              # prints the steps: part, seconds, name, command
#	cuda/check.sh pack DIR          # where Go is: builds programs into DIR/programs.tar.xz
#	cuda/check.sh run DIR OUT       # where the GPU is, in a checkout
#	cuda/check.sh rehearse DIR OUT  # the same without a GPU: tests on the fake driver (needs cc), benchmarks on the CPU
#
# OUT receives report.md, a page to commit, which is written again after each step, the log of each step in logs, and tables and
# charts. A step that has ended is not run again: to continue where a machine was lost, put what came back into OUT, and give the
# same command. PYTHON names a Python with PyTorch, default python3; PARTS a subset of "library checks speed logs rest", default all but rest,
# which runs the suites as a whole; SECONDS_ALL the time for everything, default 900, of which a fifth starts the machine and copies files.
set -u
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1

# plan lists the steps of each part, those that most likely fail first: seconds, name and command. A step may also take what the
# steps of its part before it have left.
plan() {
	cat <<-'EOS'
		library 60 doctor doctor
		checks 15 driver tests cuda/internal/drv .
		checks 15 library tests cuda/internal/lt .
		checks 45 products tests cuda/internal/gpu ^Test(Products|TF32|Matmul|RepeatedProducts|Library|ManyAxes)
		checks 25 attention tests cuda/internal/gpu ^TestAttention
		checks 20 reductions tests cuda/internal/gpu ^Test(Softmax|Norms|Reduce|LongReductions|PositionsMatchesCPU)
		checks 30 steps tests cuda ^Test(Guarded|UpdateScale|WeightCopy|Replays|Graph|Capture|Steady)
		checks 40 fixtures tests tensor/torchtest OnGPU
		checks 20 autocast tests amp OnGPU
		checks 30 confirm confirm
		speed 120 mlp bench mlp
		speed 60 gemm bench gemm
		speed 60 resnet bench resnet
		speed 60 bert bench bert
		speed 60 figures figures
		logs 60 logs logs
		rest 180 gpu tests cuda/internal/gpu .
		rest 120 cuda tests cuda .
		rest 30 plumbing tests cuda/internal/drv .
	EOS
}

pack() {
	mkdir -p "$1" && dir=$(cd "$1" && pwd) && cd "$root" || exit 1
	work=$(mktemp -d)
	"$root/cuda/build.sh" build -ldflags "-s -w" -o "$work/halfnote" . || exit 1
	for package in $(plan | awk '$4 == "tests" { print $5 }' | sort -u); do
		name=$(echo "$package" | tr / -).test
		"$root/cuda/build.sh" test -c -ldflags "-s -w" -o "$work/$name" "./$package" || exit 1
	done
	# The programs share much code; one compression window over all of them exploits that.
	(cd "$work" && tar cf - halfnote ./*.test) | xz -T1 --lzma2=preset=9,dict=512MiB >"$dir/programs.tar.xz" || exit 1
	rm -rf "$work"
	ls -l "$dir"
}

run() { # DIR OUT; device is cuda or cpu
	mkdir -p "$2/logs" "$2/steps" || exit 1
	dir=$(cd "$1" && pwd) out=$(cd "$2" && pwd) work=$(mktemp -d)
	python=$(command -v "${PYTHON:-python3}") all=${SECONDS_ALL:-900}
	"$python" -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$dir/programs.tar.xz" "$work" || exit 1
	export device out work python
	if [ $device = cuda ]; then
		export HALFNOTE_CUDA_TEST=device
	else # there is no Go where the GPU is
		PATH=$(echo "$PATH" | tr : '\n' | while read -r folder; do [ -x "$folder/go" ] || echo "$folder"; done | paste -s -d : -)
	fi
	library
	plan >"$work/plan"
	for part in ${PARTS:-library checks speed logs}; do
		planned=0
		while read -r of seconds name command; do
			[ "$of" = "$part" ] || continue
			planned=$((planned + seconds))
			step=$part-$name log=$out/logs/$part-$name.txt
			[ -f "$out/steps/$step" ] && continue
			# A step during which a machine was lost twice is left out.
			if [ "$(cat "$out/steps/$step.begun" 2>/dev/null | wc -l)" -ge 2 ]; then
				echo "$part $name $seconds lost 0" >"$out/steps/$step"
				write_report
				continue
			fi
			date >>"$out/steps/$step.begun"
			limit=$((planned * all / 900 - $(cat "$out/steps/$part"-* 2>/dev/null | awk -v part="$part" '$1 == part { n += $5 } END { print n + 0 }')))
			[ $limit -ge 1 ] || limit=1
			began=$(date +%s)
			timeout -k 5 $limit sh "$root/cuda/check.sh" step $command >"$log" 2>&1 </dev/null
			echo "$part $name $seconds $? $(($(date +%s) - began))" >"$out/steps/$step"
			write_report
			tail -n 1 "$out/steps/$step"
		done <"$work/plan"
	done
	rm -rf "$work"
}

# library names the cublasLt of Python's packages, unless the environment names one.
library() {
	[ -z "${HALFNOTE_CUBLASLT-}" ] || return 0
	file=$("$python" -c '
import glob, os, sys
for name in "libcublasLt.so.13", "libcublasLt.so.12":
    for folder in sys.path:
        for file in sorted(glob.glob(os.path.join(folder, "nvidia", "*", "lib", name))) + glob.glob(os.path.join(folder, "torch", "lib", name)):
            print(file)
' | head -n 1)
	[ -z "$file" ] || export HALFNOTE_CUBLASLT="$file"
}

# The functions below are the steps' commands. Each runs as this script with the argument step, which is stopped at the
# step's limit.

doctor() {
	nvidia-smi
	"$work/halfnote" version
	"$python" -c 'import importlib.metadata as m; print("PyTorch", m.version("torch"))'
	"$work/halfnote" doctor >"$out/doctor.txt"
	cat "$out/doctor.txt"
	grep -q 'products use /' "$out/doctor.txt"
}

tests() { # package, regular expression
	cd "$root/$1" && "$work/$(echo "$1" | tr / -).test" -test.v -test.run "$2" -test.skip '^TestFigures'
}

confirm() { "$python" "$root/cuda/testdata/confirm.py" --device $device; }

bench() { # subject
	set -- "$1" --device $device --python "$python" --chart "$out/$1.png"
	if [ $device = cuda ]; then
		set -- "$@" --preset full --rounds 5 --peer torch
	else
		set -- "$@" --rounds 1 --threads 1 --peer none
	fi
	cd "$work" && ./halfnote bench "$@"
}

figures() {
	cd "$root/cuda/internal/gpu" && "$work/cuda-internal-gpu.test" -test.v -test.run '^TestFigures$'
}

logs() {
	nvidia-smi -q
	"$work/halfnote" doctor --json
	ls -l "$out" "$out/logs"
}

# write_report replaces the page as a whole, so that a lost machine leaves no half of one.
write_report() { report >"$out/report.new" && mv "$out/report.new" "$out/report.md"; }

# report prints the page.
report() {
	gpu=$(sed -n 's/^ *GPU *//p' "$out/doctor.txt" 2>/dev/null)
	rows=$(plan | while read -r part seconds name command; do cat "$out/steps/$part-$name" 2>/dev/null; done)
	if [ $device = cuda ]; then
		printf '# Halfnote on %s\n\n' "${gpu%%,*}"
	else
		printf '# A rehearsal\n\nTests ran on the fake driver, benchmarks on the CPU.\n\n'
	fi
	echo "$(date -u +%F), $(sed -n 's/^halfnote /halfnote /p' "$out/logs/library-doctor.txt" 2>/dev/null | head -n 1). $(grep '^PyTorch' "$out/logs/library-doctor.txt" 2>/dev/null || echo PyTorch is missing.)"
	echo
	echo "$gpu"
	printf '\n| part | step | seconds | planned | result |\n|---|---|---|---|---|\n'
	echo "$rows" | while read -r part name seconds code took; do
		log=$out/logs/$part-$name.txt
		case $code in 0) result=ok ;; 124 | 137) result="**stopped by its limit**" ;; lost) result="**a machine was lost twice**" ;; *) result="**exit $code**" ;; esac
		counted=$(grep -c -e '^ *--- PASS' "$log" 2>/dev/null) failed=$(grep -c -e '^ *--- FAIL' "$log" 2>/dev/null)
		[ "${counted:-0}${failed:-0}" = 00 ] || result="$result, $counted passed, $failed failed"
		echo "| $part | $name | $took | $((seconds * all / 900)) | $result |"
	done
	echo "$rows" | awk '{ planned += $3; took += $5 } END { printf "| | together | %d | %d | |\n", took, planned * all / 900 }' all="$all"
	section "Failures" "$(cd "$out/logs" && grep -H -A 4 -E '^ *--- FAIL|^panic|^fatal error' -- *.txt 2>/dev/null | head -n 200)"
	section "Differences from PyTorch's numbers" "$(grep -E '^(DIFFERENT|open)' "$out/logs/checks-confirm.txt" 2>/dev/null)"
	for subject in mlp gemm resnet bert; do
		section "bench $subject" "$(cat "$out/logs/speed-$subject.txt" 2>/dev/null)"
	done
	section "Figures" "$(sed -n 's/^.*figure: //p' "$out/logs/speed-figures.txt" 2>/dev/null)"
}

section() { # title, text
	[ -z "$2" ] || printf '\n## %s\n\n```\n%s\n```\n' "$1" "$2"
}

case "${1-} $#" in
"plan 1") plan ;;
"pack 2") pack "$2" ;;
"run 3") device=cuda && run "$2" "$3" ;;
"rehearse 3") device=cpu && run "$2" "$3" ;;
"step "*) shift && "$@" ;;
*)
	sed -n '2,14s/^# \{0,1\}//p' "$0"
	exit 2
	;;
esac
