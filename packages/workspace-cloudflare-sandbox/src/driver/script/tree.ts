import { MARKER_VARIABLE } from './settings.ts'

/**
 * Bash that finds and ends everything a command started. Needs `$p`, the leader of the group,
 * `$n`, the mark of the command, and `$o` and `$e`, the files of its outputs.
 *
 * A process belongs to a command when it is in its group or session, carries its mark in the
 * environment, writes to one of its outputs, or descends from such a one; who was found once is
 * known by its start, also when its parent has ended. Ended processes that nobody has fetched do
 * not count.
 *
 * All of them are stopped before the first is asked to end: a shell whose command is gone would go on
 * with the next one. They are stopped until no further one is found, as what runs may still fork.
 */
export const TREE_FUNCTIONS = `
declare -A known=()
members() {
  m=()
  local f l i w
  local -A parent=() born=() is=()
  for f in /proc/[0-9]*/stat; do
    l=; IFS= read -r -d '' l <"$f"
    [[ $l ]] || continue
    i=\${l%% *}; l=\${l##*) }
    read -ra w <<<"$l"
    [[ \${w[0]} == [ZX] ]] && continue
    parent[$i]=\${w[1]} born[$i]=\${w[19]}
    [[ \${w[2]} == "$p" || \${w[3]} == "$p" || \${known[$i]} == "\${w[19]}" ]] && is[$i]=1
  done
  while IFS= read -r f; do
    f=\${f#/proc/}; f=\${f%%/*}
    [[ $f == "$$" || $f == "$BASHPID" ]] || is[$f]=1
  done < <(
    grep -lzsxF -- "${MARKER_VARIABLE}=$n" /proc/[0-9]*/environ
    find /proc/[0-9]*/fd -maxdepth 1 -name '[12]' '(' -lname "$o" -o -lname "$o (deleted)" -o -lname "$e" -o -lname "$e (deleted)" ')' 2>/dev/null
  )
  for ((l = -1; l != \${#is[@]}; )); do
    l=\${#is[@]}
    for i in "\${!parent[@]}"; do [[ \${is[\${parent[$i]}]} ]] && is[$i]=1; done
  done
  m=("\${!is[@]}")
  for i in "\${m[@]}"; do [[ \${born[$i]} ]] && known[$i]=\${born[$i]}; done
}
signal() {
  local i
  for i in "\${m[@]}"; do kill -s "$1" -- "$i"; done
}
freeze() {
  local i j fresh=1
  local -A held=()
  for ((j = 0; j < 100 && fresh; j++)); do
    members; fresh=0
    for i in "\${m[@]}"; do
      [[ \${held[$i]} ]] || { held[$i]=1 fresh=1; kill -s STOP -- "$i"; }
    done
  done
}
stop() {
  local i=0 clean=0 until
  if (($1 > 0)); then
    freeze; signal TERM; signal CONT
    until=$((\${EPOCHREALTIME/[.,]/} + $1 * 1000))
    while ((\${EPOCHREALTIME/[.,]/} < until)); do
      members; ((\${#m[@]})) || break
      sleep 0.02
    done
  fi
  for ((i = 0; i < 100 && clean < 2; i++)); do
    members
    if ((\${#m[@]})); then clean=0; freeze; signal KILL; else clean=$((clean + 1)); fi
    ((clean)) || sleep 0.01
  done
}`

/**
 * Whether something may be left of a command that ended by itself. Process ids are given out in
 * order, so only the few after the command's own have to be looked at, which starts no process;
 * in doubt it says yes.
 */
export const LEFTOVER_FUNCTION = `
leftover() {
  kill -0 -- "-$p" && return 0
  local i v q=0
  read -r _ _ _ _ q </proc/loadavg
  ((q >= p && q - p < 512)) || return 0
  for ((i = p + 1; i <= q; i++)); do
    [[ -e /proc/$i ]] || continue
    [[ /proc/$i/fd/1 -ef $o || /proc/$i/fd/2 -ef $e ]] && return 0
    while IFS= read -r -d '' v; do [[ $v == "${MARKER_VARIABLE}=$n" ]] && return 0; done \\
      </proc/$i/environ
  done
  return 1
}`
