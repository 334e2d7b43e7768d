import type { Behaviour } from '../../behaviour.ts'
import { answerBehaviours } from './answer-behaviours.ts'
import { inboxBehaviours } from './inbox-behaviours.ts'
import { interactionDurableBehaviours } from './interaction-durable-behaviours.ts'
import { requestBehaviours } from './request-behaviours.ts'
import { requestEndBehaviours } from './request-end-behaviours.ts'
import { requestListBehaviours } from './request-list-behaviours.ts'
import { signalBehaviours } from './signal-behaviours.ts'
import type { StoreSubject } from '../store-subject.ts'

/** The contract of `SessionSessionStateStore`. A subject may offer `durable`. */
export const interactionBehaviours: readonly Behaviour<StoreSubject>[] = [
  ...requestBehaviours,
  ...requestEndBehaviours,
  ...requestListBehaviours,
  ...answerBehaviours,
  ...inboxBehaviours,
  ...signalBehaviours,
  ...interactionDurableBehaviours,
]
