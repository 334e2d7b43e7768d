# Runs a command in a group of its own with its outputs in files, waits, ends what is left, and answers
# with head and tail. What the fast path needs is built into bash, as each further process costs about
# as much as a small command itself. In: $hx_limit: time in microseconds, empty without; $hx_live: the
# outputs are read while it runs; $hx_backlog: bytes that may wait for the reader before the command is
# paused; $hx_grace in milliseconds; $hx_tree: the functions that end processes; the arrays hx_argv and
# hx_variables (NAME=VALUE).

# What a command has put in the place of a file of ours would hold up the next one.
for f in "$o" "$e" ${hx_channel:+"$v"} "$k.p" "$k.a"; do
  [[ -e $f || -L $f ]] && { [[ -f $f && ! -L $f ]] || rm -rf -- "$f"; }
done
open_outputs() {
  if [[ $hx_channel ]]; then : >"$o" >"$e" >"$v"; else : >"$o" >"$e"; fi
}
open_outputs || { mkdir -p -- "$d"; open_outputs || say scratch; }
# A pipe to which nothing writes: waiting for it is a pause without a process.
[[ -p $d/idle ]] || mkfifo -- "$d/idle"; exec {idle}<>"$d/idle" || say scratch
open_readers
trap : TERM HUP INT QUIT USR1 USR2 ALRM PIPE
set -m
(
exec {idle}<&- {or}<&- {er}<&-
[[ $hx_channel ]] && exec {vr}<&-
set -- "$o" "$e" "$v" "$hx_channel" "${hx_argv[@]}"
unset OLDPWD n k o e v f t0 epoch idle or er vr
export -- "${hx_variables[@]}"
if [[ $4 ]]; then exec -- "${@:5}" </dev/null >"$1" 2>"$2" 3>"$3"
else exec -- "${@:5}" </dev/null >"$1" 2>"$2"; fi
) &
p=$!
set +m
echo "$p" >"$k.p"
LC_ALL=C
t=0
# Parsed when something is left to end, which is seldom.
tree() { eval "$hx_tree"; "$@"; }
[[ -e $k.x ]] && tree stop "$hx_grace"
# Bash reports an ended child only to `wait`, which knows no time limit. So this checks again and again,
# after pauses that start no process: short ones at first, a sixteenth of the time that has passed later.
# Bash 5.2 gives itself a random signal mask when the time of a `read -t` is over before it waits, as it is
# on a busy machine. With SIGCHLD in it an ended child is never reaped, and `kill -0` finds it for ever: so
# its state counts as well, looked at seldom, since that costs a twentieth of a millisecond.
ended() { local l=; IFS= read -r -d '' l <"/proc/$p/stat"; l=${l##*) }; [[ ! $l || $l == [ZX]* ]]; }
out_of_time() { [[ $hx_limit ]] && ((now - start >= hx_limit)) && ! ended && t=1; }
wait_plain() {
  local now start pause
  if [[ ! $hx_limit ]]; then while wait "$p"; kill -0 "$p"; do :; done; return; fi
  now=${EPOCHREALTIME/[.,]/}; start=$now
  while kill -0 "$p"; do
    ((pause = (now - start) / 16, pause = pause < 500 ? 500 : pause > 20000 ? 20000 : pause))
    printf -v pause 0.%06d "$pause"
    read -r -t "$pause" <&"$idle"
    now=${EPOCHREALTIME/[.,]/}
    out_of_time && break
    ((now - start > 50000)) && ended && break
  done
}
wait_live() {
  local now start=${EPOCHREALTIME/[.,]/} paused=0 turn=0 size acked i
  while kill -0 "$p"; do
    read -r -t 0.01 <&"$idle"
    now=${EPOCHREALTIME/[.,]/}
    out_of_time && break
    ((++turn % 5)) && continue
    ended && break
    size=0; for i in $(stat -c %s -- "$o" "$e"); do ((size += i)); done
    acked=0; [[ -f $k.a ]] && read -r -n 32 acked <"$k.a"
    [[ $acked =~ ^[0-9]+$ ]] || acked=0
    if ((size - acked > hx_backlog)); then
      ((paused)) || kill -STOP -- "-$p"
      paused=1
    elif ((paused)); then kill -CONT -- "-$p"; paused=0; fi
  done
}
if [[ $hx_live ]]; then wait_live; else wait_plain; fi
((t)) && tree stop "$hx_grace"
wait "$p"; r=$?
leftover && tree stop 0
[[ $hx_live ]] && : >"$k.d"
answer
