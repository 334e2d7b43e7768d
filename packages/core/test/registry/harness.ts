import type { WorkspaceRef } from '@helix-agents/core/provider'
import {
  type Capabilities,
  type OwedDestroy,
  type RegistryDeps,
  type WorkspaceDeclaration,
  WorkspaceRegistry,
} from '@helix-agents/core/runtime'
import { createRecordingMetrics, ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { FakeProvider } from './fake-provider.ts'

const session = { sessionId: 's1', agentType: 'tester' }

export function declare(
  name: string,
  changes: Partial<WorkspaceDeclaration> = {},
): WorkspaceDeclaration {
  return {
    name,
    provider: { kind: 'fake' },
    capabilities: { fs: {} } as Capabilities,
    onLost: 'reopen',
    ...changes,
  }
}

export interface Setup {
  readonly names?: readonly string[]
  readonly declaration?: Partial<WorkspaceDeclaration>
  readonly deps?: Partial<RegistryDeps>
  readonly refs?: Readonly<Record<string, unknown>>
  /** Backends that an earlier run left. */
  readonly stored?: readonly string[]
}

/** A registry over one fake provider, with everything recorded. */
export function setup({ names = ['box'], declaration = {}, deps = {}, refs, stored }: Setup = {}) {
  const events: string[] = []
  const provider = new FakeProvider(events)
  for (const id of stored ?? []) provider.stored.add(id)
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const metrics = createRecordingMetrics()
  const owed: OwedDestroy[] = []
  const persisted = new Map<string, WorkspaceRef>()
  const registry = new WorkspaceRegistry(
    Object.fromEntries(names.map((name) => [name, declare(name, declaration)])),
    {
      providers: new Map([['fake', provider]]),
      session,
      ...(refs && { refs }),
      persistRef: async (name, ref) => {
        events.push(`persist ${ref === null ? 'null' : (ref.ref as { id: string }).id}`)
        if (ref === null) persisted.delete(name)
        else persisted.set(name, ref)
      },
      logger,
      metrics,
      clock,
      random: () => 0.5,
      onOwedDestroy: (each) => void owed.push(each),
      ...deps,
    },
  )
  const stateOf = (name = 'box') => registry.describe().find((each) => each.name === name)!
  return { registry, provider, events, clock, logger, metrics, owed, persisted, stateOf }
}

export const idempotent = { idempotent: true }
export const once = { idempotent: false }

/** Settles like the promise, telling only the code of its error. */
export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no error',
    (error: unknown) => (error as { code?: unknown }).code ?? error,
  )
}

/** Lets promise chains run to their next real wait. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
}

export const ref = (id: string, changes: object = {}) => ({
  providerId: 'fake',
  schemaVersion: 1,
  capabilities: { fs: true },
  ref: { id },
  ...changes,
})
