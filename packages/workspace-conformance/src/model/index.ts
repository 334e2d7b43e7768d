import type { Behaviour } from '../behaviour.ts'
import { answerBehaviours } from './answer-behaviours.ts'
import { failureBehaviours } from './failure-behaviours.ts'
import { messageBehaviours } from './message-behaviours.ts'
import type { ModelSubject } from './model-subject.ts'
import { retryBehaviours } from './retry-behaviours.ts'

/** The contract of an adapter to language models. */
export const modelBehaviours: readonly Behaviour<ModelSubject>[] = [
  ...answerBehaviours,
  ...messageBehaviours,
  ...failureBehaviours,
  ...retryBehaviours,
]

export type {
  ModelFeature,
  ModelSubject,
  PlannedFailure,
  PlannedPart,
  PlannedTurn,
  PlannedUsage,
  SeenCall,
  SeenFile,
  SeenMessage,
  SeenResult,
} from './model-subject.ts'
