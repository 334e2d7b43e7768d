# Hands a run to the interpreter of a context and waits for its end. The interpreter opens the outputs
# of this process, so all that is done with those of a command holds for it: also that at a deadline
# every process that writes to them is ended. $1: home of the context; $2: mark of the run; $3 `text` or `file`; $4:
# the code, or the file that holds it.
exec 4>&1 5>&2 6>&3 2>/dev/null
q=$1
tell() { printf '{"type":"%s","program":"%s"}\n' "$1" "$3" >&6; exit "$2"; }
gone() { [[ -e $q/exit || ! -e /proc/$p ]]; }
absent() { [[ -f $q/absent ]] && { read -r -n 64 program <"$q/absent"; tell absent 127 "$program"; }; }
[[ -f $q/pid && -p $q/in && -p $q/done ]] && read -r -n 64 p _ <"$q/pid" || tell lost 1
exec {turn}<"$q" && flock "$turn" || tell lost 1
gone && { absent; tell lost 1; }
if [[ $3 == file ]]; then mv -f -- "$4" "$q/code"; else printf %s "$4" >"$q/code"; fi || tell full 1
exec {in}<>"$q/in" {done}<>"$q/done"
printf '%s %s\n' "$2" "$$" >&"$in"
line=
while :; do
  if read -r -t 0.05 part <&"$done"; then
    line+=$part; [[ $line == "$2 "* ]] && break
    line=; continue
  fi
  # What came before the pause was over is only there once.
  line+=$part
  gone || continue
  absent
  for ((i = 0; i < 100; i++)); do [[ -f $q/exit ]] && break; read -r -t 0.01 <&"$done"; done
  status=137; [[ -f $q/exit ]] && read -r -n 8 status <"$q/exit"
  [[ $status =~ ^[0-9]+$ ]] || status=137
  tell ended "$status"
done
set -- $line
exit "$2"
