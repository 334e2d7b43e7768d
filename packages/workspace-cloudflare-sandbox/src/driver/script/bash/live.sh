# Waits for new output of a running command and returns the next piece of each. It also reports to the
# script of the command how far the caller has read. In: $k: start of the names of its files; $out,
# $err, $more: bytes of stdout, stderr and descriptor 3 that were read; $more is empty without such a
# descriptor; $piece: most bytes of each.
[[ -e $k.a && ! -f $k.a ]] || echo "$((out + err))" >"$k.a"
files=("$k.o" "$k.e")
[[ $more ]] && files+=("$k.v")
# Without news it ends after 250 steps of 20 ms.
for ((i = 0; i < 250; i++)); do
  { read -r o; read -r e; read -r v; } < <(stat -c %s -- "${files[@]}")
  ((o > out || e > err || ${v:-0} > ${more:-0})) && break
  [[ -e $k.d ]] && break
  sleep 0.02
done
piece "$k.o" "$out"; echo
piece "$k.e" "$err"
[[ $more ]] && { echo; piece "$k.v" "$more"; }
say pieces
