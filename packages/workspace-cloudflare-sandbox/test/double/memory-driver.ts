import {
  DriverError,
  type DriverErrorOptions,
  type DriverSettings,
  type SandboxDriver,
} from '@helix-agents/workspace-cloudflare-sandbox'
import type {
  DriverCode,
  DriverCodeOutcome,
  DriverFiles,
  DriverSnapshots,
  EnsureOptions,
  EnsureOutcome,
  ExecOptions,
  ExecOutcome,
  MountRequest,
  SandboxIdentity,
} from '../../src/driver/port.ts'
import type { DriverProcess, DriverProcesses } from '../../src/driver/processes.ts'
import { MemoryFiles } from './memory-files.ts'
import { MemorySnapshots } from './memory-snapshots.ts'
import type { Container, SandboxWorld } from './memory-world.ts'

export const asleep = (): DriverError =>
  new DriverError('interrupted', 'another container', { admitted: 'no', reason: 'asleep' })

export const unavailable = (options: Partial<DriverErrorOptions> = {}): DriverError =>
  new DriverError('unavailable', 'no container', { admitted: 'no', ...options })

/** What the next `exec` gives; the epoch is that of the container. */
export type Scripted = Partial<ExecOutcome>

export class MemoryDriver implements SandboxDriver {
  readonly line = '0.12'
  readonly sandboxId: string
  readonly files: DriverFiles
  readonly processes: DriverProcesses
  readonly code: DriverCode
  readonly snapshots?: DriverSnapshots
  readonly settings: DriverSettings
  readonly #world: SandboxWorld
  #epoch: string | undefined

  constructor(world: SandboxWorld, settings: DriverSettings) {
    this.#world = world
    this.settings = settings
    this.sandboxId = settings.sandboxId
    const reach = (name: string): Promise<Container> => this.reach(name)
    this.files = new MemoryFiles(reach)
    this.processes = memoryProcesses(reach, world)
    this.code = memoryCode(reach, world)
    if (settings.backups !== undefined) this.snapshots = new MemorySnapshots(reach, world)
  }

  /** The container, if it is still the one of the fence. */
  async reach(name: string): Promise<Container> {
    await this.#world.enter(this.sandboxId, name)
    const container = await this.#world.start(this.sandboxId)
    if (container.epoch !== this.#epoch || this.#epoch === undefined) throw asleep()
    return container
  }

  async identity(): Promise<SandboxIdentity> {
    await this.#world.enter(this.sandboxId, 'identity')
    return { placement: null, running: this.#world.containers.has(this.sandboxId) }
  }

  async ensure({ knownEpoch, signal }: EnsureOptions): Promise<EnsureOutcome> {
    await this.#world.enter(this.sandboxId, 'ensure')
    signal.throwIfAborted()
    const container = await this.#world.start(this.sandboxId)
    const isNew = container.epoch === undefined
    container.epoch ??= crypto.randomUUID()
    const { epoch } = container
    this.#epoch = epoch
    if (knownEpoch !== undefined && knownEpoch !== epoch) return outcomeOf('cold', epoch)
    return outcomeOf(isNew ? 'created' : 'reattached', epoch)
  }

  async exec(argv: readonly string[], _options: ExecOptions): Promise<ExecOutcome> {
    const { epoch } = await this.reach('exec')
    const bytes = new TextEncoder().encode(`${argv.join(' ')}\n`)
    const printed = this.#world.onExec?.(argv)
    return {
      exitCode: 0,
      stdout: { bytes, totalBytes: bytes.length },
      stderr: { bytes: new Uint8Array(), totalBytes: 0 },
      ...printed,
      timedOut: false,
      aborted: false,
      durationMs: 1,
      epoch: epoch ?? null,
    }
  }

  async mount(request: MountRequest): Promise<void> {
    const container = await this.reach('mount')
    const isThere = container.mounts.some((one) => one.path === request.path)
    if (!isThere) container.mounts.push(request)
  }

  async destroy(): Promise<'destroyed' | 'was-absent'> {
    await this.#world.enter(this.sandboxId, 'destroy')
    return this.#world.containers.delete(this.sandboxId) ? 'destroyed' : 'was-absent'
  }

  async disconnect(): Promise<void> {
    await this.#world.enter(this.sandboxId, 'disconnect')
  }
}

function outcomeOf(outcome: EnsureOutcome['outcome'], epoch: string): EnsureOutcome {
  return { outcome, epoch, placement: null }
}

function processOf(id: string, command = ''): DriverProcess {
  return { id, pid: 7, command, state: 'running', startedAtMs: 0 }
}

type Reach = (name: string) => Promise<Container>

function memoryProcesses(reach: Reach, world: SandboxWorld): DriverProcesses {
  const missing = async (name: string): Promise<never> => {
    await reach(name)
    throw new DriverError('process-missing', 'none', { admitted: 'yes' })
  }
  return {
    start: async (_argv, { title = '' }) => {
      await reach('processes.start')
      return processOf('p1', title)
    },
    list: async () => {
      await reach('processes.list')
      return []
    },
    output: async (id) => {
      const printed = world.onOutput?.()
      if (printed === undefined) return missing('processes.output')
      await reach('processes.output')
      return { ...printed, nextStdoutOffset: 1, nextStderrOffset: 1, process: processOf(id) }
    },
    kill: async () => {
      if (world.onOutput === undefined) await missing('processes.kill')
    },
  }
}

function ended({ epoch }: Container, outputs: DriverCodeOutcome['outputs']): DriverCodeOutcome {
  return { outputs, exitCode: 0, timedOut: false, aborted: false, epoch: epoch ?? null }
}

function memoryCode(reach: Reach, world: SandboxWorld): DriverCode {
  return {
    create: async () => {
      await reach('code.create')
      return 'context-1'
    },
    runOnce: async (_language, code) => ended(await reach('code.runOnce'), world.onCode(code)),
    run: async (_context, code) => ended(await reach('code.run'), world.onCode(code)),
    remove: async () => {
      await reach('code.remove')
    },
  }
}
