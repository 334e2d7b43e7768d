import { existsSync, readFileSync } from 'node:fs'

/** The processes that a process has started and that run; none where the system does not tell. */
export function childrenOf(process: number): readonly number[] {
  const file = `/proc/${process}/task/${process}/children`
  return existsSync(file) ? readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number) : []
}
