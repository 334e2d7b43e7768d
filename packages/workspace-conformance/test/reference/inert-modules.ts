import type {
  BackgroundProcess,
  CodeContextId,
  CodeInterpreter,
  RunResult,
  Shell,
  Snapshotter,
} from '@helix-agents/core/provider'

const NOTHING = new Uint8Array()
const RESULT: RunResult = {
  stdout: NOTHING,
  stderr: NOTHING,
  exitCode: 0,
  durationMs: 1,
  timedOut: false,
}
/** Where an output that is too long lies; whoever uses it puts a file there. */
export const STORED_OUTPUT = '/stored-output'
const PROCESS: BackgroundProcess = {
  id: 'p1',
  command: 'x',
  state: 'running',
  startedAt: new Date(0),
}
const OUTPUT = { stdout: NOTHING, stderr: NOTHING, nextStdoutOffset: 0, nextStderrOffset: 0 }
const REF = { providerId: 'reference', ref: {} }
const FORKED = { ...REF, schemaVersion: 1, capabilities: { fs: true } }

/** Keeps nothing of an output, and streams all of it. */
const run: Shell['run'] = async (_command, options = {}) => {
  const { maxOutputBytes } = options
  await options.onStdout?.(new Uint8Array(MOST_PRINTED).fill(121))
  if (maxOutputBytes === undefined || maxOutputBytes > 100_000) return RESULT
  return { ...RESULT, stdoutCut: { totalBytes: MOST_PRINTED, headBytes: 0, path: STORED_OUTPUT } }
}
/** Of a test. */
const MOST_PRINTED = 2000

/** A shell, an interpreter and snapshots that keep all bounds since they do nothing. */
export function createInertModules(): {
  readonly shell: Shell
  readonly code: CodeInterpreter
  readonly snapshot: Snapshotter
} {
  return {
    shell: {
      run,
      start: async () => PROCESS,
      list: async () => [PROCESS],
      output: async () => ({ ...OUTPUT, process: PROCESS }),
      kill: async () => undefined,
    },
    code: {
      languages: ['python'],
      isStateful: true,
      runCode: async () => ({ outputs: [], exitCode: 0 }),
      createContext: async () => 'c1' as CodeContextId,
      runInContext: async () => ({ outputs: [], exitCode: 0 }),
      deleteContext: async () => undefined,
    },
    snapshot: {
      snapshot: async () => REF,
      restore: async () => FORKED,
      branch: async () => FORKED,
    },
  }
}
