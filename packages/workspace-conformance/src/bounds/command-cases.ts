import { check } from '../assert.ts'
import type { BoundCase } from './bound-case.ts'
import type { BoundScale } from './bound-scale.ts'
import type { BoundSubject } from './bound-subject.ts'
import { MEGABYTE_TEXT } from './hostile-files.ts'

/** Commands that print without an end, cut after so many bytes. */
const floods: readonly (readonly [what: string, command: (bytes: number) => string])[] = [
  ['zeros', (bytes) => `head -c ${bytes} /dev/zero`],
  ['an-endless-line', (bytes) => `head -c ${bytes} /dev/zero | tr '\\0' a`],
  ['many-small-lines', (bytes) => `yes | head -c ${bytes}`],
  ['invalid-utf8', (bytes) => `head -c ${bytes} /dev/zero | tr '\\0' '\\377'`],
  ['escape-sequences', (bytes) => `yes "$(printf '\\033[31mx\\033[0m\\r')" | head -c ${bytes}`],
  ['both-outputs', (bytes) => `head -c ${bytes} /dev/zero & head -c ${bytes} /dev/zero >&2; wait`],
]

/** Outputs that were too long for an answer, and are kept in a file. */
const storedOutputCases: readonly BoundCase[] = [
  {
    name: 'read_file/a-stored-output',
    needs: ['shell', 'stored-output'],
    prepare: storeOutput,
    input: (_scale, path) => ({ path, column: 1_000_000 }),
  },
  {
    name: 'grep/a-stored-output',
    needs: ['shell', 'stored-output'],
    prepare: storeOutput,
    input: (_scale, path) => ({ pattern: 'a+[yz]', opts: { path } }),
  },
]

async function storeOutput({ target }: BoundSubject, { textBytes }: BoundScale): Promise<string> {
  const command = `head -c ${textBytes} /dev/zero | tr '\\0' a`
  const ran = await target.workspace.shell?.run(command, { maxOutputBytes: 10_000 })
  const path = ran?.stdoutCut?.path
  check(path !== undefined, 'a path of an output that was too long')
  return path
}

/** Commands and what they print. */
export const commandCases: readonly BoundCase[] = [
  ...floods.map(([what, command]): BoundCase => ({
    name: `run/${what}`,
    needs: ['shell'],
    input: ({ textBytes }) => ({ command: command(textBytes) }),
    results: ['ok'],
  })),
  {
    name: 'run/progress-of-a-flood',
    needs: ['shell', 'progress'],
    input: ({ textBytes }) => ({ command: `yes | head -c ${textBytes}` }),
    results: ['ok'],
    streams: ({ textBytes }) => textBytes,
  },
  {
    name: 'run/a-megabyte-command',
    needs: ['shell'],
    input: () => ({ command: `: ${MEGABYTE_TEXT}` }),
  },
  {
    name: 'run/the-longest-command',
    needs: ['shell'],
    input: () => ({ command: `: ${'a '.repeat(65_000)}` }),
  },
  {
    name: 'run/many-variables',
    needs: ['shell'],
    input: ({ entries }) => ({
      command: ':',
      opts: { env: Object.fromEntries(Array.from({ length: entries }, (_, i) => [`V${i}`, 'x'])) },
    }),
  },
  ...storedOutputCases,
]

/** Processes that outlive the call. */
export const processCases: readonly BoundCase[] = [
  {
    name: 'process_output/a-flood',
    needs: ['shell', 'background'],
    prepare: (subject, { textBytes }) =>
      startProcess(subject, `yes | head -c ${textBytes}; head -c ${textBytes} /dev/zero >&2`),
    input: (_scale, id) => ({ id }),
    results: ['ok'],
  },
  {
    name: 'process_output/a-megabyte-id',
    needs: ['shell', 'background'],
    input: () => ({ id: MEGABYTE_TEXT }),
  },
  {
    name: 'process_list/long-commands',
    needs: ['shell', 'background'],
    prepare: async (subject) => {
      for (let i = 0; i < 10; i += 1) await startProcess(subject, `: ${'a '.repeat(30_000)}`)
    },
    input: () => ({}),
    results: ['ok'],
  },
  {
    name: 'process_kill/a-flood',
    needs: ['shell', 'background'],
    prepare: (subject) => startProcess(subject, 'yes'),
    input: (_scale, id) => ({ id }),
    results: ['ok'],
  },
]

async function startProcess({ target }: BoundSubject, command: string): Promise<string> {
  const started = await target.workspace.shell?.start?.(command)
  check(started !== undefined, 'a shell with background processes')
  return started.id
}
