# `describe HOME` prints `ID PID STARTED EXIT COMMAND` of a process, the command in base64.
describe() {
  local p=0 at=0 r=-
  [[ ${1##*-} =~ ^[0-9a-z]+$ && -f $1/pid && -f $1/command ]] || return
  read -r -n 64 p at <"$1/pid" || return
  [[ $p =~ ^[0-9]+$ && $at =~ ^[0-9]+[.,][0-9]+$ ]] || return
  if [[ -f $1/exit ]]; then read -r -n 8 r <"$1/exit"; [[ $r =~ ^[0-9]+$ ]] || r=137
  else [[ -e /proc/$p ]] || { [[ -e $1/exit ]] || r=137; }; fi
  printf '%s %s %s %s %s\n' "${1##*-}" "$p" "$at" "$r" "$(head -c 100000 -- "$1/command" | base64 -w0)"
}
