import type { Behaviour } from '../behaviour.ts'
import { blockBehaviours } from '../snapshot-store/block-behaviours.ts'
import { manifestBehaviours } from '../snapshot-store/manifest-behaviours.ts'
import type { SnapshotStoreSubject } from '../snapshot-store/snapshot-store-subject.ts'
import { sweepBehaviours } from '../snapshot-store/sweep-behaviours.ts'
import { checkpointBehaviours } from './checkpoints/checkpoint-behaviours.ts'
import { damageBehaviours } from './damage-behaviours.ts'
import { durableBehaviours } from './durable-behaviours.ts'
import { historyBehaviours } from './checkpoints/history-behaviours.ts'
import { holdBehaviours } from './hold-behaviours.ts'
import { hostileBehaviours } from './hostile-behaviours.ts'
import { interactionBehaviours } from './interaction/index.ts'
import { limitBehaviours } from './limit-behaviours.ts'
import { listBehaviours } from './list-behaviours.ts'
import { messageBehaviours } from './message-behaviours.ts'
import { recordedCallBehaviours } from './recorded-call-behaviours.ts'
import { outcomeBehaviours } from './outcome-behaviours.ts'
import { runBehaviours } from './run-behaviours.ts'
import { sessionBehaviours } from './session-behaviours.ts'
import { usageBehaviours } from './usage-behaviours.ts'
import { stepBehaviours } from './step-behaviours.ts'
import type { StoreSubject } from './store-subject.ts'
import { streamBoundBehaviours } from './stream/bound-behaviours.ts'
import { streamDurableBehaviours } from './stream/durable-behaviours.ts'
import { streamEndBehaviours } from './stream/end-behaviours.ts'
import { streamReadBehaviours } from './stream/read-behaviours.ts'
import { streamResumeBehaviours } from './stream/resume-behaviours.ts'
import { streamRunBehaviours } from './stream/run-behaviours.ts'
import type { StreamSubject } from './stream/subject.ts'

/** The contract of `SessionStateStore`. A subject may offer `durable` and `damage`. */
export const storeBehaviours: readonly Behaviour<StoreSubject>[] = [
  ...sessionBehaviours,
  ...messageBehaviours,
  ...runBehaviours,
  ...stepBehaviours,
  ...checkpointBehaviours,
  ...historyBehaviours,
  ...listBehaviours,
  ...usageBehaviours,
  ...recordedCallBehaviours,
  ...outcomeBehaviours,
  ...hostileBehaviours,
  ...holdBehaviours,
  ...limitBehaviours,
  ...damageBehaviours,
  ...durableBehaviours,
  ...interactionBehaviours,
]

/** The contract of `StreamManager`. A subject may offer `durable` and `shared`. */
export const streamBehaviours: readonly Behaviour<StreamSubject>[] = [
  ...streamReadBehaviours,
  ...streamResumeBehaviours,
  ...streamRunBehaviours,
  ...streamEndBehaviours,
  ...streamBoundBehaviours,
  ...streamDurableBehaviours,
]

/** The contract of `SnapshotStore`. A subject may offer `durable` and `damage`. */
export const snapshotStoreBehaviours: readonly Behaviour<SnapshotStoreSubject>[] = [
  ...blockBehaviours,
  ...manifestBehaviours,
  ...sweepBehaviours,
]

export type { SnapshotStoreSubject } from '../snapshot-store/snapshot-store-subject.ts'
export type { StoreSubject } from './store-subject.ts'
export type { StreamSubject } from './stream/subject.ts'
