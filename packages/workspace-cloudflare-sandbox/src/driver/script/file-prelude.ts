import { quoteWord } from '@helix-agents/core/provider'
import { READ_EPOCH } from './read-epoch.ts'
import { sayFunction } from './reply.ts'
import type { ContainerSettings } from './settings.ts'

/** Temporary files of writes; listings leave them out. */
export const TEMPORARY_PREFIX = '.helix-write-'

/**
 * What every script on files starts with: the epoch is checked, then `at PATH` goes to the
 * directory that holds a path and sets `$b` to its last name, never through a link that leads
 * out of the workspace. The workspace is what a link in its own place leads to.
 *
 * Changing directory pins it: whoever moves it or puts a link in its place later changes
 * nothing for the script.
 */
export function filePrelude(settings: ContainerSettings, nonce: string, epoch: string): string {
  return `export LC_ALL=C
d=${quoteWord(settings.scratch)} R=${quoteWord(settings.root)} N=${nonce} refuse=
${READ_EPOCH}
${sayFunction(nonce)}
${epoch === '' ? '' : `[[ $epoch == ${epoch} ]] || say cold "$epoch"`}
${FUNCTIONS}
`
}

/** Put in front of a script: links on the way of its paths are refused. */
export const REFUSE_LINKS = 'refuse=1'

/** The functions for paths of any kind. */
const ANY_PATH = `root() {
  if [[ $1 != "$R" && $1 != "$R"/* ]]; then top=/ rest=\${1#/}; cd /; return; fi
  if [[ ! -e $R && ! -L $R ]]; then mkdir -p -- "$R" || fail system; fi
  if [[ ! -d $R ]]; then [[ -e $R ]] && fail root file; fail root link; fi
  into "$R" || fail system
  top=$PWD rest=\${1#"$R"}; rest=\${rest#/}
}
at() {
  local make=$2 c w
  root "$1"; b=. w=$top/$rest; w=\${w%/*}
  while [[ $rest == */* ]]; do
    c=\${rest%%/*} rest=\${rest#*/}
    [[ $refuse && -L ./$c ]] && fail escape
    if [[ -d ./$c ]]; then into "./$c" || fail system; inside
    elif [[ -e ./$c ]]; then fail not-directory
    elif [[ -L ./$c ]]; then
      c=$(realpath -m -- "./$c"; echo /); c=\${c%$'\\n'/}
      [[ $top == / || $c == "$top"/* ]] || fail escape
      fail not-found
    elif [[ $make ]]; then
      c=$c/\${rest%/*}; [[ $rest == */* ]] || c=\${c%%/*}
      mkdir -p -- "./$c" || fail system
      into "./$c" || fail system; inside; rest=\${rest##*/}
    else fail not-found; fi
  done
  [[ $rest ]] && b=$rest
  # Also a link that was put there a moment ago has led to another directory.
  [[ ! $refuse || $top == / || $PWD == "$w" ]] || fail escape
}
follow() {
  local t
  [[ -L ./$b ]] || return 0
  [[ $refuse ]] && fail escape
  t=$(realpath -m -- "./$b"; echo /); t=\${t%$'\\n'/}
  [[ $top == / || $t == "$top" || $t == "$top"/* ]] || fail escape
  [[ -L $t ]] && fail not-found
  if [[ $t == "$top" ]]; then into "$t" || fail system; inside; b=.; return; fi
  if ! into "\${t%/*}/" 2>/dev/null; then [[ -e \${t%/*} ]] && fail not-directory; fail not-found; fi
  inside; b=\${t##*/}
}`

/**
 * Most paths hold no link, and all of their directories are there: then the kernel says that
 * the directory is where its path says, and the functions for all else are not even parsed.
 */
const FUNCTIONS = `fail() { say fail "$@"; }
# Where it leads is asked of the kernel: a link may turn while \`cd\` finds its own answer.
into() { cd -P -- "$1" && cd -P -- /proc/self/cwd; }
inside() { [[ $top == / || $PWD == "$top" || $PWD == "$top"/* ]] || fail escape; }
at() {
  local w=\${1%/*}
  if [[ $w == "$R" || $w == "$R"/* ]] && { into "$w"; } 2>/dev/null &&
    [[ $PWD == "$w" ]]; then top=$R b=\${1##*/}; return; fi
  eval "$F"; at "$@"
}
follow() { [[ -L ./$b ]] || return 0; eval "$F"; follow; }
root() { eval "$F"; root "$@"; }
# Takes the place of the shell: it prints the last line, or complains and leaves none.
ok() { exec stat -L --printf="\\\\n%%$N ok %f %s %.9Y %i %.9Z\\\\n" -- "./$1"; }
exists() { [[ -e ./$b || -L ./$b ]]; }
present() { exists || fail not-found; }
F=${quoteWord(ANY_PATH)}`
