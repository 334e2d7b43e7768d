// Processor time of the processes that this one has started; Linux says it to the nanosecond.
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/**
 * Microseconds that all threads of a process were on a processor: what others do on the machine
 * hardly changes it. Undefined where the system does not say.
 */
export function processorClock(processId: number): (() => number) | undefined {
  const tasks = `/proc/${processId}/task`
  if (!existsSync(`${tasks}/${processId}/schedstat`)) return undefined
  return () => {
    const nanoseconds = readdirSync(tasks).map((task) => {
      const [onProcessor] = readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')
      return Number(onProcessor)
    })
    return nanoseconds.reduce((sum, one) => sum + one, 0) / 1000
  }
}

/** Ids of the processes of a program that this one has started; none where `/proc` is missing. */
export function childrenNamed(program: string): number[] {
  if (!existsSync('/proc/self/stat')) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((id) => {
      try {
        const stat = readFileSync(`/proc/${id}/stat`, 'utf8')
        return (
          stat.includes(`(${program})`) && stat.split(') ')[1]?.split(' ')[1] === `${process.pid}`
        )
      } catch {
        // It has ended meanwhile.
        return false
      }
    })
    .map(Number)
}
