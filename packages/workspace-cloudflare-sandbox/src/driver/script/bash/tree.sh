# Finds and ends everything a command started. In: $p, the leader of the group; $n, the mark of the
# command; $o and $e, the files of its outputs.
#
# A process belongs to a command when it is in its group or session, carries its mark in the
# environment, writes to one of its outputs, or descends from such a one. One that was found once is
# known by its start, also when its parent has ended. Ended processes that were not reaped do not count.
#
# All of them are stopped before the first is asked to end: a shell whose command is gone would continue
# with the next one. They are stopped until no further one is found, as what runs may still fork.
declare -A known=()
members() {
  m=()
  local f l i w
  local -A parent=() born=() is=()
  for f in /proc/[0-9]*/stat; do
    l=; IFS= read -r -d '' l <"$f"
    [[ $l ]] || continue
    i=${l%% *}; l=${l##*) }
    read -ra w <<<"$l"
    [[ ${w[0]} == [ZX] ]] && continue
    parent[$i]=${w[1]} born[$i]=${w[19]}
    [[ ${w[2]} == "$p" || ${w[3]} == "$p" || ${known[$i]} == "${w[19]}" ]] && is[$i]=1
  done
  while IFS= read -r f; do
    f=${f#/proc/}; f=${f%%/*}
    [[ $f == "$$" || $f == "$BASHPID" ]] || is[$f]=1
  done < <(
    grep -lzsxF -- "HELIX_WS_PROCESS=$n" /proc/[0-9]*/environ
    find /proc/[0-9]*/fd -maxdepth 1 -name '[12]' '(' -lname "$o" -o -lname "$o (deleted)" -o -lname "$e" -o -lname "$e (deleted)" ')' 2>/dev/null
  )
  for ((l = -1; l != ${#is[@]}; )); do
    l=${#is[@]}
    for i in "${!parent[@]}"; do [[ ${is[${parent[$i]}]} ]] && is[$i]=1; done
  done
  m=("${!is[@]}")
  for i in "${m[@]}"; do [[ ${born[$i]} ]] && known[$i]=${born[$i]}; done
}
signal() {
  local i
  for i in "${m[@]}"; do kill -s "$1" -- "$i"; done
}
freeze() {
  local i j fresh=1
  local -A held=()
  for ((j = 0; j < 100 && fresh; j++)); do
    members; fresh=0
    for i in "${m[@]}"; do
      [[ ${held[$i]} ]] || { held[$i]=1 fresh=1; kill -s STOP -- "$i"; }
    done
  done
}
stop() {
  local i=0 clean=0 until
  if (($1 > 0)); then
    freeze; signal TERM; signal CONT
    until=$((${EPOCHREALTIME/[.,]/} + $1 * 1000))
    while ((${EPOCHREALTIME/[.,]/} < until)); do
      members; ((${#m[@]})) || break
      sleep 0.02
    done
  fi
  for ((i = 0; i < 100 && clean < 2; i++)); do
    members
    if ((${#m[@]})); then clean=0; freeze; signal KILL; else clean=$((clean + 1)); fi
    ((clean)) || sleep 0.01
  done
}
