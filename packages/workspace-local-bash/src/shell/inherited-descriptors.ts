import { openSync, readdirSync, readFileSync } from 'node:fs'

/** Beyond this one a list of descriptors would grow too long. */
const LAST = 1024
/** `O_CLOEXEC` as `/proc` shows it. */
const CLOSED_ON_EXEC = 0o2_000_000

let found: readonly number[] | undefined
let nothing: number | undefined

/**
 * What to give a child for its descriptors, so that it gets none which this process inherited from
 * whoever started it: a channel to a supervisor, a pipe with a password. Node closes its own, and
 * passes on those.
 * @param own Descriptors of the child from 0 on.
 */
export function withoutInherited<T extends readonly unknown[]>(
  own: T,
): (T[number] | number | 'ignore')[] {
  found ??= inheritedDescriptors()
  const last = found.at(-1) ?? 0
  const list: (T[number] | number | 'ignore')[] = [...own]
  for (let fd = own.length; fd <= last; fd += 1) {
    list.push(found.includes(fd) ? (nothing ??= openSync('/dev/null', 'r+')) : 'ignore')
  }
  return list
}

/** Those that stay open when another program is started; none where the host does not tell. */
function inheritedDescriptors(): number[] {
  return namesOfDescriptors()
    .map(Number)
    .filter((fd) => fd <= LAST && isInheritable(fd))
    .toSorted((one, other) => one - other)
}

function namesOfDescriptors(): string[] {
  try {
    return readdirSync('/proc/self/fd')
  } catch {
    return []
  }
}

function isInheritable(fd: number): boolean {
  try {
    const [, flags] =
      /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? []
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0
  } catch {
    // It was that of the directory which was read.
    return false
  }
}
