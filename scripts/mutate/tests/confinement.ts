import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** A program and its arguments. */
export type Command = readonly [program: string, ...args: string[]]

/**
 * The first process of the namespaces. `$1` is the folder that stays writable, also by its own path,
 * and holds what is the temporary folder `$2` from here on: one for each command, since a number of a
 * process in the name of a file means nothing to those in other namespaces. Everything else becomes
 * read-only; what a mutant removes, fills or kills is within. It stays, to collect the processes that
 * lose their parent.
 */
const ENTER = `
set -e
folder=$1 temporary=$2
shift 2
own=$(mktemp -d "$folder/tmp-XXXXXX")
mkdir "$own/\${folder##*/}"
mount --bind "$folder" "$own/\${folder##*/}"
mount --rbind "$own" "$temporary"
mount -t tmpfs tmpfs /dev/shm
mount -t proc proc /proc
while read -r id parent device of at rest; do
  case $at in
    "$temporary"|"$temporary"/*|/proc|/proc/*|/dev|/dev/*) ;;
    *) mount -o remount,bind,ro "$at" ;;
  esac
done < /proc/self/mountinfo
cd "$PWD"
"$@"
`

/** Runs a command where only a folder, directly within the temporary one, can be written. */
export function confined(command: Command, folder: string): Command {
  // Root keeps its right to become other users, which a namespace of users would take.
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', ...asRoot]
  return ['unshare', ...namespaces, 'sh', '-c', ENTER, 'sh', folder, tmpdir(), ...command]
}

const CHECK = `touch "$0"
if touch /.probe 2>/dev/null; then exit 1; fi
test -x "$1" || { echo "$1 is below the temporary folder, which is hidden" >&2; exit 1; }`

/** Why nothing can be confined here; none when it can. */
export function whyNotConfined(folder: string): string | undefined {
  const words = ['sh', '-c', CHECK, join(folder, 'probe'), process.execPath] as const
  const [program, ...args] = confined(words, folder)
  const { status, stderr, error } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
  if (error !== undefined) return `${basename(program)}: ${error.message}`
  return status === 0 ? undefined : stderr.trim()
}
