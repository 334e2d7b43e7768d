import type { WorkspaceCapabilityFlags } from '@helix-agents/core/provider'
import type { Behaviour, Deviation } from '../behaviour.ts'
import { defineConformance } from '../define-conformance.ts'
import type { Runner } from '../runner.ts'
import { boundBehaviours } from './bound-behaviours.ts'
import { type BoundBehaviour, BoundExceededError } from './bound-case.ts'
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
/** Other programs only add to a measurement: a call that stays within its bounds once is bounded. */
const MEASUREMENTS = 3

/**
 * Registers the measurements of every tool that the provider has. A test fails when a call exceeds
 * its bounds in three fresh workspaces.
 */
export function defineBounds(runner: Runner, subject: BoundsSubject): void {
  const offered = Object.entries(subject.capabilities).flatMap(([name, has]) => (has ? [name] : []))
  const whole = subject.whole ?? false
  const create = async (): Promise<Disposable> => {
    const { dispose, ...target } = await subject.create()
    const scale = whole ? WHOLE_SCALE : SAMPLE_SCALE
    return { subject: new BoundSubject({ ...target, scale }), dispose }
  }
  const chosen = boundBehaviours.filter(({ id }) => subject.only?.includes(id) ?? true)
  defineConformance(
    whole ? patient(runner) : runner,
    chosen.map((behaviour) => inFreshWorkspaces(behaviour, create)),
    {
      offers: [...offered, ...(subject.plants ?? []), ...(subject.extras ?? [])],
      deviations: subject.deviations ?? [],
      create: async () => undefined,
    },
  )
}

interface Disposable {
  readonly subject: BoundSubject
  readonly dispose: () => Promise<void>
}

function inFreshWorkspaces(
  behaviour: BoundBehaviour,
  create: () => Promise<Disposable>,
): Behaviour<undefined> {
  const measure = async (): Promise<void> => {
    const { subject, dispose } = await create()
    try {
      await behaviour.run(subject)
    } finally {
      await dispose()
    }
  }
  return {
    ...behaviour,
    run: async () => {
      for (let left = MEASUREMENTS - 1; left > 0; left--) {
        try {
          return await measure()
        } catch (error) {
          if (!(error instanceof BoundExceededError)) throw error
        }
      }
      await measure()
    },
  }
}

function patient(runner: Runner): Runner {
  return {
    it: (name, run) => runner.it(name, run, WHOLE_TIMEOUT_MS),
    fails: (name, run) => runner.fails(name, run, WHOLE_TIMEOUT_MS),
  }
}
