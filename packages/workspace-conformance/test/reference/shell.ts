import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { FileSystemError, ToolInputError, WorkspaceFailedError } from '@helix-agents/core'
import {
  normalizePath,
  type OutputCut,
  type RunResult,
  type Shell,
  type ShellCommand,
  type ShellRunOptions,
  type Workspace,
} from '@helix-agents/core/provider'
import { createDiskFiles } from './disk-files.ts'

interface Background {
  readonly id: string
  readonly command: string
  readonly startedAt: Date
  readonly child: ChildProcess
  readonly stdout: number[]
  readonly stderr: number[]
}

export interface ShellReference {
  readonly workspace: Workspace
  dispose(): Promise<void>
}

/** A real shell in a temporary directory: the shortest code that keeps the contract. */
export function createShellReference(): ShellReference {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'helix-kit-reference-'))
  const started = new Map<string, Background>()
  const children = new Set<ChildProcess>()
  const launch = (command: ShellCommand, options: ShellRunOptions): ChildProcess => {
    const [program = '', ...words] =
      typeof command === 'string' ? ['/bin/bash', '-c', command] : command
    const env = { PATH: process.env.PATH, HOME: root, ...options.env }
    const cwd = directoryOf(root, options.cwd ?? '/')
    const child = spawn(program, words, {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    children.add(child)
    return child
  }
  const find = (id: string): Background => {
    const found = started.get(id)
    if (found === undefined) throw new ToolInputError('invalid-input', `no process ${id}`)
    return found
  }
  const shell: Shell = {
    run: (command, options = {}) => run(root, () => launch(command, options), options),
    start: async (command, options = {}) => {
      const child = launch(command, options)
      const id = `p${started.size + 1}`
      const text = typeof command === 'string' ? command : command.join(' ')
      const entry: Background = {
        id,
        command: text,
        startedAt: new Date(),
        child,
        stdout: [],
        stderr: [],
      }
      child.stdout?.on('data', (chunk: Uint8Array) => entry.stdout.push(...chunk))
      child.stderr?.on('data', (chunk: Uint8Array) => entry.stderr.push(...chunk))
      started.set(id, entry)
      return describe(entry)
    },
    list: async () => [...started.values()].map(describe),
    output: async (id, from = {}) => {
      const entry = find(id)
      return {
        stdout: Uint8Array.from(entry.stdout.slice(from.stdoutOffset ?? 0)),
        stderr: Uint8Array.from(entry.stderr.slice(from.stderrOffset ?? 0)),
        nextStdoutOffset: entry.stdout.length,
        nextStderrOffset: entry.stderr.length,
        process: describe(entry),
      }
    },
    kill: async (id) => {
      const { child } = find(id)
      const ended = once(child, 'exit')
      if (child.exitCode !== null || child.signalCode !== null) return
      killTree(child)
      await ended
    },
  }
  const workspace: Workspace = {
    id: root,
    isolation: 'none',
    shellRoot: root,
    fs: createDiskFiles(root),
    shell,
    close: async () => {},
  }
  const dispose = async (): Promise<void> => {
    for (const child of children) killTree(child)
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  }
  return { workspace, dispose }
}

async function run(
  root: string,
  launch: () => ChildProcess,
  options: ShellRunOptions,
): Promise<RunResult> {
  options.signal?.throwIfAborted()
  const startedAt = performance.now()
  const child = launch()
  const errors: Error[] = []
  const end = { timedOut: false, aborted: false }
  const timer = setTimeout(() => {
    end.timedOut = true
    killTree(child)
  }, options.timeoutMs ?? 120_000)
  options.signal?.addEventListener('abort', () => {
    end.aborted = true
    killTree(child)
  })
  const exit = Promise.race([
    once(child, 'exit').then(([code, signal]) => exitCodeOf(code, signal)),
    once(child, 'error').then(() => 127),
  ])
  const [stdout, stderr, exitCode] = await Promise.all([
    collect(child.stdout, (chunk) => options.onStdout?.(chunk), errors),
    collect(child.stderr, (chunk) => options.onStderr?.(chunk), errors),
    exit.catch(() => 127),
  ])
  clearTimeout(timer)
  const max = options.maxOutputBytes ?? 10_000_000
  const [out, err] = [cut(root, stdout, max), cut(root, stderr, max)]
  return {
    stdout: out.kept,
    stderr: err.kept,
    exitCode: end.timedOut ? 124 : exitCode,
    durationMs: performance.now() - startedAt,
    timedOut: end.timedOut,
    ...(out.cut && { stdoutCut: out.cut }),
    ...(err.cut && { stderrCut: err.cut }),
    ...(errors.length > 0 && { callbackErrors: errors }),
  }
}

async function collect(
  stream: Readable | null,
  callback: (chunk: Uint8Array) => void | Promise<void>,
  errors: Error[],
): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream ?? []) {
    chunks.push(chunk)
    await callback(new Uint8Array(chunk))?.catch((error: Error) => errors.push(error))
  }
  return Buffer.concat(chunks)
}

function cut(root: string, whole: Buffer, max: number): { kept: Uint8Array; cut?: OutputCut } {
  if (whole.length <= max) return { kept: new Uint8Array(whole) }
  const path = `/.helix/output/${crypto.randomUUID()}.txt`
  mkdirSync(join(root, '.helix/output'), { recursive: true })
  writeFileSync(join(root, path), whole)
  const headBytes = Math.floor(max / 2)
  const tail = whole.subarray(whole.length - headBytes)
  const kept = new Uint8Array(Buffer.concat([whole.subarray(0, headBytes), tail]))
  return { kept, cut: { totalBytes: whole.length, headBytes, path } }
}

function directoryOf(root: string, cwd: string): string {
  const host = join(root, normalizePath(cwd))
  const rootStat = lstatSync(root, { throwIfNoEntry: false })
  if (rootStat === undefined) mkdirSync(root)
  else if (!rootStat.isDirectory()) {
    throw new WorkspaceFailedError('working-directory-missing', 'the root is not a directory')
  }
  if (!statSync(host, { throwIfNoEntry: false })?.isDirectory()) {
    throw new FileSystemError('not-found', cwd)
  }
  return host
}

function describe(entry: Background): Awaited<ReturnType<NonNullable<Shell['start']>>> {
  const { id, command, startedAt, child } = entry
  const ended = child.exitCode !== null || child.signalCode !== null
  if (!ended) return { id, command, startedAt, state: 'running' }
  const exitCode = exitCodeOf(child.exitCode, child.signalCode)
  return { id, command, startedAt, state: 'exited', exitCode }
}

function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal])
}

function killTree(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch (error) {
    // The group is gone already.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
