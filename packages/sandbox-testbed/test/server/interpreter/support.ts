import { spawnSync } from 'node:child_process'
import type { Fixture } from '../support/fixture.ts'

const hasPython = spawnSync('python3', ['--version']).status === 0

/** Of a group that needs Python. */
export const noPython = hasPython ? undefined : 'python3 is not installed'

/** Everything that one run said, in order. */
export type Said = readonly (readonly [kind: string, value: unknown])[]

export interface RunOptions {
  readonly language?: string
  readonly timeoutMs?: number
}

/** Runs code and collects what it says. */
export async function run(
  fixture: Fixture,
  contextId: string | undefined,
  code: string,
  options: RunOptions = {},
): Promise<Said> {
  const said: [string, unknown][] = []
  const callbacks = {
    onStdout: ({ text }: { text: string }) => void said.push(['stdout', text]),
    onStderr: ({ text }: { text: string }) => void said.push(['stderr', text]),
    onResult: (result: unknown) => void said.push(['result', structuredClone(result)]),
    onError: (error: unknown) => void said.push(['error', structuredClone(error)]),
  }
  const { interpreter } = fixture.client.root
  await interpreter.runCodeStream(contextId, code, options.language, callbacks, options.timeoutMs)
  return said
}

/** A new context. */
export async function contextOf(fixture: Fixture, language: string, more = {}): Promise<string> {
  const { interpreter } = fixture.client.root
  return (await interpreter.createCodeContext({ language, ...more })).id
}

const TOO_LATE = 'execution timed out after 300ms'

/** What a run of 300 ms says whose reply never comes. */
export const NO_REPLY = [
  ['error', { name: 'TimeoutError', message: TOO_LATE, traceback: [TOO_LATE] }],
]
