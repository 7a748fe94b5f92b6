# The go command calls this for each tool: sh link.sh TOOL ARGUMENT...
# The linker, and only it, works otherwise: it keeps the symbols of functions and variables, takes the description of the
# build from the file modinfo next to this one, and copies the program to the file program there.
dir=$(dirname "$0")
tool=$1
shift
case $tool in
*/link) ;;
*) exec "$tool" "$@" ;;
esac
if [ "$1" = -V=full ]; then
	exec "$tool" "$@"
fi
for arg do
	shift
	case $previous in
	-o) out=$arg ;;
	-importcfg)
		while IFS= read -r line; do
			case $line in
			modinfo\ *) ;;
			*) printf '%s\n' "$line" ;;
			esac
		done <"$arg" >"$dir/importcfg"
		cat "$dir/modinfo" >>"$dir/importcfg"
		arg=$dir/importcfg
		;;
	esac
	case $arg in
	-s | --s | -s=true | --s=true | -s=1 | --s=1) arg=-w ;; # -s implies -w, which keeps symbols
	esac
	set -- "$@" "$arg"
	previous=$arg
done
"$tool" "$@" && cp "$out" "$dir/program"
