// Files of a container that answer as a test says, without a way to it that could fail.
import type { DriverEntry, DriverFiles } from '../../../src/driver/port.ts'
import type { FileCalls } from '../../../src/lifecycle/live-sandbox.ts'

export interface RecordedCalls extends FileCalls {
  /** Name and arguments of each call. */
  readonly made: readonly (readonly unknown[])[]
  /** The paths that errors would name. */
  readonly paths: readonly (string | undefined)[]
}

/** What is not answered is not there. */
export function callsOf(answers: Partial<Omit<DriverFiles, 'attributes'>>): RecordedCalls {
  const made: unknown[][] = []
  const paths: (string | undefined)[] = []
  const files = Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [
      name,
      async (...args: unknown[]): Promise<unknown> => {
        made.push([name, ...args])
        return Reflect.apply(answer, undefined, args)
      },
    ]),
  ) as unknown as DriverFiles
  return {
    made,
    paths,
    call: async (run, options) => {
      paths.push(options?.path)
      return run({ files })
    },
    callFile: async (path, run) => {
      paths.push(path)
      return run({ files })
    },
  }
}

export function entryOf(
  path: string,
  type: DriverEntry['type'] = 'file',
  sizeBytes = 3,
): DriverEntry {
  return { path, type, sizeBytes, modifiedAtMs: 1000, version: 'v1' }
}
