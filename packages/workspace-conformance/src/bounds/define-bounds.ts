import type { WorkspaceCapabilityFlags } from '@helix-agents/core/provider'
import type { Deviation } from '../behaviour.ts'
import { defineConformance } from '../define-conformance.ts'
import type { Runner } from '../runner.ts'
import { boundBehaviours } from './bound-behaviours.ts'
import { SAMPLE_SCALE, WHOLE_SCALE } from './bound-scale.ts'
import { BoundSubject, type BoundTarget } from './bound-subject.ts'

/** A provider whose tools are measured. */
export interface BoundsSubject {
  readonly capabilities: WorkspaceCapabilityFlags
  /** Which of the plants `create` gives. */
  readonly plants?: readonly ('deep-tree' | 'sparse-file')[]
  /** What a shell or an interpreter offers besides. */
  readonly extras?: readonly ('background' | 'stateful-code' | 'stored-output' | 'progress')[]
  /** Whole sizes take minutes and gigabytes of disk. Default false: a sample. */
  readonly whole?: boolean
  /** Ids of the behaviours that are registered, for a sample of them. Default: all. */
  readonly only?: readonly string[]
  /** A fresh, empty workspace for each behaviour. */
  create(): Promise<Omit<BoundTarget, 'scale'> & { readonly dispose: () => Promise<void> }>
  readonly deviations?: readonly Deviation[]
}

const WHOLE_TIMEOUT_MS = 900_000

/** Registers the measurements of every tool that the provider has. */
export function defineBounds(runner: Runner, subject: BoundsSubject): void {
  const offered = Object.entries(subject.capabilities).flatMap(([name, has]) => (has ? [name] : []))
  const whole = subject.whole ?? false
  const chosen = boundBehaviours.filter(({ id }) => subject.only?.includes(id) ?? true)
  const disposals = new WeakMap<BoundSubject, () => Promise<void>>()
  defineConformance(whole ? patient(runner) : runner, chosen, {
    offers: [...offered, ...(subject.plants ?? []), ...(subject.extras ?? [])],
    deviations: subject.deviations ?? [],
    create: async () => {
      const { dispose, ...target } = await subject.create()
      const created = new BoundSubject({ ...target, scale: whole ? WHOLE_SCALE : SAMPLE_SCALE })
      disposals.set(created, dispose)
      return created
    },
    dispose: async (created) => disposals.get(created)?.(),
  })
}

function patient(runner: Runner): Runner {
  return {
    it: (name, run) => runner.it(name, run, WHOLE_TIMEOUT_MS),
    fails: (name, run) => runner.fails(name, run, WHOLE_TIMEOUT_MS),
  }
}
