# Whether something may be left of a command that ended by itself. Process ids are given out in order,
# so only the few after the command's own are checked, which starts no process; in doubt it says yes.
leftover() {
  kill -0 -- "-$p" && return 0
  local i v q=0
  read -r _ _ _ _ q </proc/loadavg
  ((q >= p && q - p < 512)) || return 0
  for ((i = p + 1; i <= q; i++)); do
    [[ -e /proc/$i ]] || continue
    [[ /proc/$i/fd/1 -ef $o || /proc/$i/fd/2 -ef $e ]] && return 0
    while IFS= read -r -d '' v; do [[ $v == "HELIX_WS_PROCESS=$n" ]] && return 0; done \
      </proc/$i/environ
  done
  return 1
}
