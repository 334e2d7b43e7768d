# What every script on files starts with. `at PATH` goes to the directory that holds a path and sets
# $b to its last name, never through a link that leads out of the workspace $R. With $refuse a link
# on the way fails. Changing directory pins it: a later move changes nothing here.
#
# Most paths hold no link, and all of their directories exist: then the kernel says that the
# directory is where its path says, and the functions for all else ($F) are not even parsed.
fail() { say fail "$@"; }
# Where it leads is asked of the kernel: a link may turn while `cd` finds its own answer.
into() { cd -P -- "$1" && cd -P -- /proc/self/cwd; }
inside() { [[ $top == / || $PWD == "$top" || $PWD == "$top"/* ]] || fail escape; }
# Goes to a directory of the workspace if its path is its own: no link is on the way.
straight() { [[ $1 == "$R" || $1 == "$R"/* ]] && { into "$1"; } 2>/dev/null && [[ $PWD == "$1" ]]; }
at() {
  if straight "${1%/*}"; then top=$R b=${1##*/}; return; fi
  eval "$F"; at "$@"
}
follow() { [[ -L ./$b ]] || return 0; eval "$F"; follow; }
root() { eval "$F"; root "$@"; }
# Takes the place of the shell: it prints the last line, or complains and leaves none.
ok() { exec stat -L --printf="\\n%%$N ok %f %s %.9Y %i %.9Z\\n" -- "./$1"; }
exists() { [[ -e ./$b || -L ./$b ]]; }
present() { exists || fail not-found; }
