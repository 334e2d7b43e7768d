import { quoteWord } from '@helix-agents/core/provider'
import { TEMPORARY_PREFIX } from './file-prelude.ts'
import { EPOCH_PATTERN } from './read-epoch.ts'
import { sayFunction } from './reply.ts'
import type { ContainerSettings } from './settings.ts'

/**
 * The script that says which container this is: keeps an epoch that is there, else writes the
 * given one. Of two that come at once one wins, and both answer its epoch. A copy elsewhere
 * outlives whoever tidies up: with the scratch directory the files of the workspace are not gone.
 */
export function ensureScript(settings: ContainerSettings, nonce: string, epoch: string): string {
  const [scratch, root] = [quoteWord(settings.scratch), quoteWord(settings.root)]
  return `exec 2>/dev/null
d=${scratch} copy=/etc/.helix\${d//\\//-}
${sayFunction(nonce)}
mark() { e=; [[ -f $1 ]] && read -r -n 64 e <"$1"; [[ $e =~ ${EPOCH_PATTERN} ]] || e=; [[ $e ]]; }
put() { rm -rf -- "$2"; echo "$1" >"$2-$$" && mv -T -- "$2-$$" "$2"; }
[[ -e ${root} || -L ${root} ]] || mkdir -p -- ${root}
# Only what is no directory: another look may have made this one since.
[[ -d $d && ! -L $d ]] || rm -f -- "$d"
mkdir -p -m 700 -- "$d" || say scratch
if mark "$d/epoch"; then
  # What calls that never ended have left.
  { find "$d" -maxdepth 1 -name 's-*' -mmin +1440 -delete
  find ${root}/ -maxdepth 1 -name ${quoteWord(`${TEMPORARY_PREFIX}*`)} -mmin +1440 -delete
  } </dev/null >/dev/null &
  say kept "$e"
fi
exec {lock}<"$d"; flock -w 10 "$lock"
mark "$d/epoch" && say kept "$e"
mark "$copy" || e=${epoch}
put "$e" "$d/epoch"; put "$e" "$copy"
mark "$d/epoch" || say scratch
say kept "$e"
`
}

/**
 * The script that empties a directory, hidden files included, and makes it when missing. What is
 * no directory, or a link to one, is put aside as everywhere: a restore is exact, and loses nothing.
 */
export function emptyScript(directory: string): string {
  return `w=${quoteWord(directory)}
if [[ -L $w || ( -e $w && ! -d $w ) ]]; then
  for ((i = 1; i < 1000; i++)); do [[ -e $w.$i || -L $w.$i ]] || break; done
  mv -nT -- "$w" "$w.$i" || fail system
fi
mkdir -p -- "$w" || fail system
cd -P -- "$w" || fail system
find . -mindepth 1 -delete || fail system
say ok
`
}

/**
 * The script that measures a directory: members, bytes of its files, inodes of its members, and where
 * it is when no link is followed. Names that are hard links share an inode.
 */
export function measureScript(directory: string): string {
  return `root ${quoteWord(directory)}
cd -P -- ${quoteWord(directory)} || fail not-found
members=0 bytes=0
while read -r size kind; do
  ((members += 1)); [[ $kind == f ]] && ((bytes += size))
done < <(find . -mindepth 1 -printf '%s %y\\n')
links() { find . -mindepth 1 ! -type d -links +1 -printf "$1"; }
inodes=$((members - $(links x | wc -c) + $(links '%D:%i\\n' | sort -u | wc -l)))
printf %s "$PWD" | base64 -w0
say measured "$members" "$bytes" "$inodes"
`
}
