import type { Behaviour } from '../behaviour.ts'
import { checkpointBehaviours } from './checkpoint-behaviours.ts'
import { durableBehaviours } from './durable-behaviours.ts'
import { listBehaviours } from './list-behaviours.ts'
import { messageBehaviours } from './message-behaviours.ts'
import { runBehaviours } from './run-behaviours.ts'
import { sessionBehaviours } from './session-behaviours.ts'
import { stepBehaviours } from './step-behaviours.ts'
import type { StoreSubject } from './store-subject.ts'
import { streamReadBehaviours } from './stream-read-behaviours.ts'
import { streamResumeBehaviours } from './stream-resume-behaviours.ts'
import { streamRunBehaviours } from './stream-run-behaviours.ts'
import type { StreamSubject } from './stream-subject.ts'

/** The contract of `SessionStateStore`. A subject that survives its process offers `durable`. */
export const storeBehaviours: readonly Behaviour<StoreSubject>[] = [
  ...sessionBehaviours,
  ...messageBehaviours,
  ...runBehaviours,
  ...stepBehaviours,
  ...checkpointBehaviours,
  ...listBehaviours,
  ...durableBehaviours,
]

/** The contract of `StreamManager`. */
export const streamBehaviours: readonly Behaviour<StreamSubject>[] = [
  ...streamReadBehaviours,
  ...streamResumeBehaviours,
  ...streamRunBehaviours,
]

export type { StoreSubject } from './store-subject.ts'
export type { StreamSubject } from './stream-subject.ts'
