import {
  type Agent,
  type AssistantMessage,
  HelixError,
  type Message,
  ModelError,
  type StepResult,
  type UserMessage,
} from '@helix-agents/core'
import { untilAborted } from '@helix-agents/core/provider'
import { planStepProcessing, type StepPlan } from '@helix-agents/core/runtime'
import type { RunOutcome } from '../agent-result.ts'
import type { Run } from '../ports.ts'
import { createModelCaller, emitRetry } from './call-model.ts'
import { failed, stopped } from './stop-outcome.ts'
import { runToolStep } from './tool-step.ts'

/** How often an agent is reminded that its output is missing. */
const MAX_REMINDERS = 2

const REMINDER: UserMessage = {
  role: 'user',
  content: 'Give the final result by calling the tool __finish__.',
}

/** Asks the model for a step and processes its answer; resolves to the end of the run, if it is one. */
export function createStepRunner(run: Run): () => Promise<RunOutcome | undefined> {
  const callModel = createModelCaller(run)
  const reminders = { given: 0 }
  return async () => {
    const plan = await tryModel(run, callModel)
    return 'status' in plan ? plan : processPlan(run, plan, reminders)
  }
}

async function tryModel(
  run: Run,
  callModel: () => Promise<StepResult>,
): Promise<StepPlan | RunOutcome> {
  try {
    return planStepProcessing(await callModel())
  } catch (error) {
    return run.control.cause === undefined ? modelFailed(run, error) : stopped(run, 'aborted')
  }
}

async function processPlan(
  run: Run,
  plan: StepPlan,
  reminders: { given: number },
): Promise<RunOutcome | undefined> {
  switch (plan.type) {
    case 'calls':
      return runToolStep(run, plan)
    case 'error':
      return plan.isFinal ? failStep(run, plan.error) : retryStep(run, plan.error)
    case 'output':
      return finish(run, plan.message, plan.output)
    default:
      return answer(run, plan, reminders)
  }
}

async function answer(
  run: Run,
  { message, isFinal }: Extract<StepPlan, { type: 'answer' }>,
  reminders: { given: number },
): Promise<RunOutcome | undefined> {
  if (isFinal && run.agent.outputSchema !== undefined) return remind(run, message, reminders)
  const outcome = isFinal ? answered(run, message) : undefined
  await run.recorder.commit([message], outcome)
  return outcome
}

/** A text that is cut off is an answer: the next turn may continue it. */
function answered({ services, sessionId, runId }: Run, message: AssistantMessage): RunOutcome {
  const completed = { status: 'completed', output: message.content } as const
  if (message.isCutOff !== true) return completed
  services.logger.warn({ sessionId, runId }, 'the answer is cut off at the limit of tokens')
  return { ...completed, isCutOff: true }
}

async function finish(run: Run, message: AssistantMessage, given: unknown): Promise<RunOutcome> {
  const outcome = await untilAborted(acceptOutput(run.agent, given), run.control.signal)
  await run.recorder.commit([message], outcome)
  return outcome
}

/** The agent has an output schema and gave a text: reminds it, a few times. */
async function remind(
  run: Run,
  message: Message,
  reminders: { given: number },
): Promise<RunOutcome | undefined> {
  if (reminders.given < MAX_REMINDERS) {
    reminders.given += 1
    await run.recorder.commit([message, REMINDER])
    return undefined
  }
  const outcome = failed('output-missing', 'the agent ended without giving its output')
  await run.recorder.commit([message], outcome)
  return outcome
}

/** A run that would wait longer than this for its model ends, and can be resumed. */
const MAX_WAIT_MS = 600_000

/** The adapter asks for a retry; it counts as a step, so that retries are bounded. */
async function retryStep(run: Run, cause: unknown): Promise<RunOutcome | undefined> {
  const { control, services } = run
  const error = ModelError.isInstance(cause) ? cause : new ModelError('model-failed', { cause })
  const { retryAfterMs: delayMs = 0 } = error
  if (delayMs > MAX_WAIT_MS) return failStep(run, error)
  emitRetry(run, { error, attempt: 1, delayMs, discardsOutput: true })
  await run.recorder.commit([])
  // A stop ends the wait; the loop checks for it next.
  if (delayMs > 0) await Promise.allSettled([services.clock.sleep(delayMs, control.signal)])
  return undefined
}

/** The step stores no messages; its usage counts for the run that resumes it. */
async function failStep(run: Run, cause: unknown): Promise<RunOutcome> {
  const { usage } = run.recorder.unstoredUsage()
  if (usage !== undefined) {
    await run.services.stateStore.appendMessages({ ...run.lease.write(), messages: [], usage })
  }
  return modelFailed(run, cause)
}

function modelFailed(run: Run, cause: unknown): RunOutcome {
  run.services.logger.error({ err: cause, sessionId: run.sessionId }, 'model call failed')
  const message = HelixError.isInstance(cause) ? cause.message : 'the model call failed'
  const code = ModelError.isInstance(cause) ? cause.code : 'model-failed'
  return { status: 'failed', error: { code, message, cause } }
}

/** Checks an output that the model gave without the tool `__finish__`. */
async function acceptOutput(agent: Agent, output: unknown): Promise<RunOutcome> {
  if (agent.outputSchema === undefined) return { status: 'completed', output }
  const result = await agent.outputSchema['~standard'].validate(output)
  if (!result.issues) return { status: 'completed', output: result.value }
  const problems = result.issues.map((issue) => issue.message).join('; ')
  return {
    status: 'failed',
    error: { code: 'output-invalid', message: `the output does not match its schema: ${problems}` },
  }
}
