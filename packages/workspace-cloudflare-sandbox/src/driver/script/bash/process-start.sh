# Starts a process that outlives the call. A supervisor in a session of its own keeps its outputs and
# exit code in a directory that bears its id. In: $q: that directory; $hx_program: of a context, which
# has pipes for its requests and answers, its interpreter; $hx_title; $hx_supervisor; the arrays
# hx_argv and hx_variables (NAME=VALUE).
[[ $hx_program ]] && { type -P "$hx_program" >/dev/null || say absent "$hx_program"; }
mkdir -p -- "$q" || say scratch
[[ $hx_program ]] && { mkfifo -- "$q/in" "$q/done" || say scratch; }
printf %s "$hx_title" >"$q/command"
(
set -- "$(type -P setsid)" "$BASH" --noprofile --norc -c "$hx_supervisor" "$q" "$(type -P mv)" "${hx_argv[@]}"
unset OLDPWD
((${#hx_variables[@]})) && export -- "${hx_variables[@]}"
exec -- "$@"
) </dev/null >/dev/null 2>&1 &
for ((i = 0; i < 1000; i++)); do
  read -r p <"$q/pid" && break
  sleep 0.005
done
# An interpreter has to be where it is to run before that is taken away.
if [[ $hx_program ]]; then
  exec {done}<>"$q/done"
  for ((i = 0; i < 3000; i++)); do
    read -r -t 0.01 ready <&"$done"
    [[ $ready ]] && break
    [[ -e $q/exit || ! -e /proc/${p%% *} ]] && break
  done
  [[ -f $q/absent ]] && { read -r -n 64 program <"$q/absent"; rm -rf -- "$q"; say absent "$program"; }
fi
describe "$q"
say processes
