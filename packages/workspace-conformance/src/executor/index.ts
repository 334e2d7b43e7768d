import type { Behaviour } from '../behaviour.ts'
import type { ExecutorSubject } from './executor-subject.ts'
import { limitBehaviours } from './limit-behaviours.ts'
import { recoveryBehaviours } from './recovery-behaviours.ts'
import { runBehaviours } from './run-behaviours.ts'
import { toolBehaviours } from './tool-behaviours.ts'
import { workspaceBehaviours } from './workspace-behaviours.ts'

/** The contract of an executor. */
export const executorBehaviours: readonly Behaviour<ExecutorSubject>[] = [
  ...runBehaviours,
  ...toolBehaviours,
  ...limitBehaviours,
  ...recoveryBehaviours,
  ...workspaceBehaviours,
]

export type {
  AgentExecutor,
  ExecutorScenario,
  ExecutorSubject,
  RunEnding,
  RunHandle,
} from './executor-subject.ts'
