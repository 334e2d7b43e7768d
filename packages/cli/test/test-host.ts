import type { SessionStateStore } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { type FleetStore, MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { InMemorySnapshotStore, InMemoryStateStore } from '@helix-agents/store-memory'
import { openSnapshots } from '../src/commands/snapshots/store/open-snapshots.ts'
import { type CliHost, runCli, type TextStream } from '@helix-agents/cli'

interface Terminal {
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Keeps what is written. */
export class RecordingStream implements TextStream {
  text = ''
  readonly isTTY: boolean
  readonly columns: number

  constructor({ isTTY = false, columns = 80 }: Terminal) {
    this.isTTY = isTTY
    this.columns = columns
  }

  write(text: string): void {
    this.text += text
  }
}

/** What one command said and how it ended. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A machine in memory: a store, a clock, a network. */
export class TestHost {
  stateStore: SessionStateStore = new InMemoryStateStore()
  fleetStore: FleetStore = new MemoryFleetStore()
  readonly clock = new ManualClock(1_000_000)
  readonly snapshotStore = new InMemorySnapshotStore({ clock: this.clock })
  readonly opened: string[] = []
  readonly written: string[] = []
  closed = 0
  /** How long it takes to close what was opened. */
  closing: Promise<void> = Promise.resolve()
  env: Record<string, string> = {}
  fetch: typeof globalThis.fetch = async () => Promise.reject(new Error('no network'))
  isOutputClosed = () => false
  /** Arguments of each `helix init`, which ends with 1. */
  readonly created: (readonly string[])[] = []
  /** What a person types, or a pipe brings. */
  input = ''
  hasPerson = false
  /** What any module of the user exports. */
  module: Readonly<Record<string, unknown>> = {}
  /** Resolves with the signal that ends the process. */
  signal: Promise<string> = Promise.resolve('SIGTERM')

  async run(args: readonly string[], terminal: Terminal = {}): Promise<Ran> {
    const [stdout, stderr] = [new RecordingStream(terminal), new RecordingStream(terminal)]
    const host: CliHost = {
      stdin: {
        isTTY: this.hasPerson,
        readLine: async () => this.input.split('\n')[0] ?? '',
        readAll: async () => this.input,
      },
      stdout,
      stderr,
      env: this.env,
      clock: this.clock,
      fetch: async (...request) => this.fetch(...request),
      openSessions: async (file, { writable = false } = {}) => {
        this.opened.push(file)
        if (writable) this.written.push(file)
        return { stateStore: this.stateStore, close: () => this.#close() }
      },
      openLedger: async (file) => {
        this.opened.push(file)
        return { store: this.fleetStore, close: () => this.#close() }
      },
      openSnapshots: async (place, { canCreate }) => {
        this.opened.push(`${place} ${canCreate}`)
        if (place?.includes('://') !== true) {
          return { store: this.snapshotStore, close: () => this.#close() }
        }
        const fetch: typeof globalThis.fetch = (...request) => this.fetch(...request)
        return openSnapshots(place, { canCreate, env: this.env, fetch })
      },
      createProject: async (given) => {
        this.created.push(given)
        return 1
      },
      importModule: async (path) => {
        this.opened.push(path)
        return this.module
      },
      untilSignal: async () => this.signal,
      isOutputClosed: () => this.isOutputClosed(),
    }
    const code = await runCli(args, host)
    return { code, out: stdout.text, err: stderr.text }
  }

  async #close(): Promise<void> {
    await this.closing
    this.closed += 1
  }

  async json(args: readonly string[]): Promise<never> {
    const { out } = await this.run([...args, '--json'])
    return JSON.parse(out) as never
  }
}

/** Characters that no terminal may get from stored data; newlines are the layout's own. */
export const DANGEROUS =
  /(?!\n)(?:[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u3164\u2800]|\u{E0100}|\u034F|\uFE00)/u
