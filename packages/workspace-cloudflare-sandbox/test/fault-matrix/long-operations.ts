// The operations that take several calls to their container. Each attempt has files of its own, so
// that a handful of containers is enough for all of them.
import type { RemoteWorkspace } from '../testbed/bench.ts'
import type { End } from './cells.ts'

/** What an attempt works with. */
export interface Attempt {
  readonly ws: RemoteWorkspace
  /** Unlike that of any other attempt. */
  readonly id: string
}

export interface LongOperation {
  readonly name: string
  /** @returns what is to be `result`. */
  readonly run: (attempt: Attempt) => Promise<unknown>
  readonly result?: unknown
  /** How it may end when one of its calls is cut off. */
  readonly ends: readonly End[]
  /** Bash, in the workspace: what there is of an attempt, `-` before it and `done` after it. */
  readonly look?: (id: string) => string
  /** Who sends a long stream, which is also cut off in its middle. */
  readonly streams?: 'worker' | 'container'
}

const MIDDLE = 200_000
const LARGE = 1_200_000
/** Enough for a stream to be one. */
const STREAMED = 400_000
const text = (size: number): string => 'x'.repeat(size)
/** Longer than a command line: it goes to a file first. */
const LONG_LINE = `: ${'x'.repeat(125_000)}; `

const sized = (size: number) => (id: string) =>
  `s=$(stat -c %s ${id} 2>/dev/null); case $s in "") echo -;; ${size}) echo done;; *) echo "$s";; esac`
const counted = (id: string): string =>
  `s=$(cat ${id} 2>/dev/null); case $s in "") echo -;; x) echo done;; *) echo "$s";; esac`

const sizeOf = async (read: Promise<string>): Promise<number> => (await read).length

/** What the operations read. */
export const LONG_FIXTURE = [
  `head -c ${LARGE} /dev/zero | tr '\\0' x > large; head -c ${STREAMED} large > streamed`,
  'mkdir tree; for i in $(seq 1 40); do echo "needle $i" > tree/$i; done',
].join('; ')

export const reading: readonly LongOperation[] = [
  {
    name: 'fs.readFile of 1.2 MB',
    run: ({ ws }) => sizeOf(ws.call('fs.readFile', '/large')),
    result: LARGE,
    ends: ['done', 'unknown'],
    streams: 'container',
  },
  {
    name: 'fs.readStream of 400 kB',
    run: ({ ws }) => sizeOf(ws.call('fs.readStream', '/streamed')),
    result: STREAMED,
    ends: ['done', 'unknown'],
    streams: 'container',
  },
  {
    name: 'fs.readStream of a part',
    run: ({ ws }) =>
      sizeOf(ws.call('fs.readStream', '/streamed', { offset: 1000, length: 300_000 })),
    result: 300_000,
    ends: ['done', 'unknown'],
    streams: 'container',
  },
  {
    name: 'fs.grep',
    run: async ({ ws }) =>
      (await ws.call<{ matches: unknown[] }>('fs.grep', 'needle', { path: '/tree' })).matches
        .length,
    result: 40,
    ends: ['done'],
  },
]

export const writing: readonly LongOperation[] = [
  {
    name: 'fs.writeFile of 200 kB',
    run: async ({ ws, id }) => void (await ws.call('fs.writeFile', `/${id}`, text(MIDDLE))),
    ends: ['done', 'unknown'],
    look: sized(MIDDLE),
    streams: 'worker',
  },
  {
    name: 'fs.writeFile of 1.2 MB',
    run: async ({ ws, id }) => void (await ws.call('fs.writeFile', `/${id}`, text(LARGE))),
    ends: ['done', 'unknown'],
    look: sized(LARGE),
    streams: 'worker',
  },
  {
    name: 'fs.writeStream of 400 kB',
    run: async ({ ws, id }) => void (await ws.call('fs.writeStream', `/${id}`, text(STREAMED))),
    ends: ['done', 'unknown'],
    look: sized(STREAMED),
    streams: 'worker',
  },
  {
    name: 'fs.appendFile of 200 kB',
    run: async ({ ws, id }) => void (await ws.call('fs.appendFile', `/${id}`, text(MIDDLE))),
    ends: ['done', 'unknown'],
    look: sized(MIDDLE),
  },
  {
    name: 'fs.appendFile of 1.2 MB',
    run: async ({ ws, id }) => void (await ws.call('fs.appendFile', `/${id}`, text(LARGE))),
    ends: ['done', 'unknown'],
    look: sized(LARGE),
    streams: 'worker',
  },
]

const WAITS_MS = { timeoutMs: 20_000 }

export const running: readonly LongOperation[] = [
  {
    name: 'shell.run of a long line',
    run: async ({ ws, id }) =>
      void (await ws.call('shell.run', `${LONG_LINE}echo x >> ${id}`, WAITS_MS)),
    ends: ['done', 'unknown'],
    look: counted,
  },
  {
    name: 'shell.run, read while it runs',
    run: async ({ ws, id }) =>
      (
        await ws.call<{ stdout: string }>(
          'shell.runLive',
          `echo x >> ${id}; echo told; sleep 0.05`,
          WAITS_MS,
        )
      ).stdout,
    result: 'told\n',
    ends: ['done', 'unknown'],
    look: counted,
  },
  {
    name: 'shell.start of a long line',
    run: async ({ ws, id }) => void (await ws.call('shell.start', `${LONG_LINE}echo x >> ${id}`)),
    ends: ['done', 'unknown'],
    look: counted,
  },
]

export const coding: readonly LongOperation[] = [
  {
    name: 'code.runCode',
    run: async ({ ws, id }) =>
      (
        await ws.call<{ exitCode: number }>(
          'code.runCode',
          'python',
          `open("/workspace/${id}", "a").write("x\\n")`,
        )
      ).exitCode,
    result: 0,
    ends: ['done', 'unknown'],
    look: counted,
  },
  {
    name: 'code.runCode of long code',
    run: async ({ ws, id }) =>
      (
        await ws.call<{ exitCode: number }>(
          'code.runCode',
          'javascript',
          `/*${text(MIDDLE)}*/ require("node:fs").appendFileSync("/workspace/${id}", "x\\n")`,
        )
      ).exitCode,
    result: 0,
    ends: ['done', 'unknown'],
    look: counted,
  },
]
