import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isRoot } from './bubblewrap.ts'
import { findProgram, isOpenToAll } from './host-programs.ts'

/** A Python that is not one of the system's own. */
export interface Python {
  readonly prefix: string
  readonly executable: string
}

/** The host's Python outside `/usr`; undefined when the system's own serves or there is none. */
export function findPython(): Python | undefined {
  if (existsSync('/usr/bin/python3') || existsSync('/usr/local/bin/python3')) return undefined
  const program = findProgram('python3')
  const python = program === undefined ? undefined : ask(program)
  return python !== undefined && isRoot() && !isOpenToAll(python.prefix) ? undefined : python
}

function ask(program: string): Python | undefined {
  const script = 'import os, sys; print(os.path.realpath(sys.executable)); print(sys.base_prefix)'
  try {
    const text = execFileSync(program, ['-c', script], { encoding: 'utf8', timeout: 10_000 })
    const [executable = '', prefix = ''] = text.split('\n')
    return prefix.length > 1 && executable.startsWith(prefix) ? { prefix, executable } : undefined
  } catch {
    return undefined
  }
}
