import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { SubprocessShell, TmpdirFileSystem } from '@helix-agents/workspace-local-bash/parts'
import { afterEach, beforeEach, expect } from 'vitest'
import { CommandGate } from '../../src/shell/command-gate.ts'
import { createPlainLauncher, type Launcher, type LaunchRequest } from '../../src/shell/launcher.ts'
import { PipePool } from '../../src/shell/output/pipe-pool.ts'
import {
  allPids,
  isEnded,
  MARKER_VARIABLE,
  placesOf,
  readProcess,
} from '../../src/shell/processes/process-table.ts'
import type { SubprocessShellOptions } from '../../src/subprocess-shell.ts'
import { useDirectory } from '../snapshots/store/store-fixture.ts'

/** Name of the workspace: no other run of these tests has the same. */
export const NAME = `helix-ws-shell${process.pid}`
/** Marks a process that another owner of the workspace may have started. */
export const MARKED_BY_ANOTHER = { [MARKER_VARIABLE]: `${NAME}:other` }
export const PATH = process.env.PATH ?? ''
export const pool = new PipePool()

/** A place for shells without a namespace, in each test of a file; nothing of them is left after it. */
export class ShellHost {
  readonly clock = new ManualClock()
  readonly logger = new RecordingLogger()
  /** What was to be launched. */
  readonly requests: LaunchRequest[] = []
  /** How often the directories of the workspace were asked for. */
  restored = 0
  readonly #base: string
  readonly #shells: SubprocessShell[] = []

  constructor(base: string) {
    this.#base = base
    for (const part of ['root', 'scratch', 'tmp']) mkdirSync(this.at(part))
  }

  at(name: string): string {
    return join(this.#base, name)
  }

  get launcher(): Launcher {
    const held = { namespace: undefined, maxProcesses: 500 }
    const launcher = createPlainLauncher(this.at('root'), this.at('tmp'), held)
    return {
      ...launcher,
      launch: (request) => {
        this.requests.push(request)
        return launcher.launch(request)
      },
    }
  }

  open(more: Partial<SubprocessShellOptions> = {}): SubprocessShell {
    const root = this.at('root')
    const fs = new TmpdirFileSystem({
      root,
      scratch: this.at('scratch'),
      restore: () => {
        this.restored += 1
        mkdirSync(root, { recursive: true })
      },
    })
    const shell = new SubprocessShell({
      name: NAME,
      files: fs.context,
      launcher: this.launcher,
      isOnlyHere: () => false,
      gate: new CommandGate(4),
      pipes: pool,
      env: { PATH, A: 'shell', B: 'shell' },
      defaultTimeoutMs: 5000,
      maxOutputBytes: 10,
      maxStoredOutputBytes: 100,
      killGraceMs: 600_000,
      clock: this.clock,
      logger: this.logger,
      ...more,
    })
    this.#shells.push(shell)
    return shell
  }

  /** Running processes that work in the workspace. */
  get running(): number[] {
    return allPids().filter((pid) => {
      const entry = readProcess(pid)
      const [cwd = ''] = placesOf(pid, ['cwd'])
      return entry && !isEnded(entry) && cwd.startsWith(this.at('root'))
    })
  }

  async close(): Promise<void> {
    for (const shell of this.#shells) await shell.close()
  }
}

/** One for each test of a file. */
export function useShellHost(): () => ShellHost {
  const base = useDirectory()
  let host: ShellHost | undefined
  const current = (): ShellHost => host ?? new ShellHost(base())
  beforeEach(() => {
    host = new ShellHost(base())
  })
  afterEach(async () => {
    await current().close()
    // oxlint-disable-next-line vitest/no-standalone-expect -- after each test
    expect(current().running).toEqual([])
  })
  return current
}
