import type { Workspace, WorkspaceCapabilityFlags } from '@helix-agents/core/provider'
import { check, equal } from '../assert.ts'
import type { Behaviour, Deviation } from '../behaviour.ts'
import { codeBehaviours } from '../code/code-behaviours.ts'
import { defineConformance } from '../define-conformance.ts'
import { assertActsInside } from '../file-system/acts-inside.ts'
import { fileSystemBehaviours } from '../file-system/index.ts'
import type { Runner } from '../runner.ts'
import { shellBehaviours } from '../shell/index.ts'
import { snapshotBehaviours } from '../snapshot/snapshot-behaviours.ts'
import { configBehaviours } from './config.ts'
import { isolationBehaviours } from './isolation.ts'
import { lifecycleBehaviours, type ProviderBehaviour } from './lifecycle.ts'
import { limitBehaviours } from './limits.ts'
import { filesOf, type ProviderHarness, ProviderSubject } from './provider-subject.ts'
import { refBehaviours } from './refs.ts'

/**
 * What a provider offers beyond its capability flags. `processes`: commands are processes of an
 * operating system, which run beside each other and can make links and set permissions.
 */
export type ProviderExtra = 'background' | 'processes' | 'stateful-code'

/** A provider as it is put to the test. */
export interface WorkspaceConformanceSubject {
  /** The provider's own `capabilities`; what runs follows from them. Compared with each provider made. */
  readonly capabilities: WorkspaceCapabilityFlags
  /** Optional parts of `shell` and `code` that are there. Compared with each workspace opened. */
  readonly extras?: readonly ProviderExtra[]
  /** A provider over an empty backend; called once for each behaviour. */
  createProvider(): Promise<ProviderHarness>
  readonly deviations?: readonly Deviation[]
}

/** Every clause that a workspace provider is to keep, as behaviours of a {@link ProviderSubject}. */
export const workspaceBehaviours: readonly ProviderBehaviour[] = [
  ...lifecycleBehaviours,
  ...refBehaviours,
  ...configBehaviours,
  ...isolationBehaviours,
  ...limitBehaviours,
  ...onWorkspace('fs', fileSystemBehaviours, async (ws) => {
    await assertActsInside(filesOf(ws))
    return filesOf(ws)
  }),
  ...onWorkspace('shell', shellBehaviours, async (ws) => ws),
  ...onWorkspace('code', codeBehaviours, async (ws) => {
    check(ws.code !== undefined, 'a workspace with code')
    return ws.code
  }),
  ...snapshotBehaviours,
]

/**
 * Registers the whole suite for a provider: lifecycle, refs, config, isolation and limits always,
 * the suites of `fs`, `shell`, `code` and `snapshot` where they are declared.
 * @throws {Error} when a deviation names no registered behaviour.
 */
export function defineWorkspaceConformance(
  runner: Runner,
  subject: WorkspaceConformanceSubject,
): void {
  const { capabilities, extras = [], deviations = [] } = subject
  const offers = Object.entries(capabilities).filter(([, offered]) => offered)
  defineConformance(runner, workspaceBehaviours, {
    offers: [...offers.map(([name]) => name), ...extras],
    deviations,
    create: () => createSubject(subject),
    dispose: (created) => created.dispose(),
  })
}

async function createSubject(subject: WorkspaceConformanceSubject): Promise<ProviderSubject> {
  const harness = await subject.createProvider()
  equal(sorted(harness.provider.capabilities), sorted(subject.capabilities))
  return new ProviderSubject(harness, subject.capabilities, subject.extras)
}

/** Behaviours of one part of a workspace, each in a workspace of its own. */
function onWorkspace<Part>(
  capability: 'fs' | 'shell' | 'code',
  behaviours: readonly Behaviour<Part>[],
  partOf: (workspace: Workspace) => Promise<Part>,
): readonly ProviderBehaviour[] {
  return behaviours.map((behaviour) => ({
    ...behaviour,
    needs: [...(behaviour.needs ?? []), capability],
    run: async (subject) => behaviour.run(await partOf((await subject.open()).ws)),
  }))
}

function sorted(flags: WorkspaceCapabilityFlags): string[] {
  return Object.entries(flags)
    .flatMap(([name, offered]) => (offered ? [name] : []))
    .toSorted()
}
