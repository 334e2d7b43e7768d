import {
  type AssistantMessage,
  HelixError,
  type Message,
  ModelError,
  type StepResult,
  type UserMessage,
} from '@helix-agents/core'
import { createTimeSlice, untilAborted } from '@helix-agents/core/provider'
import {
  type BudgetLimit,
  planStepProcessing,
  shouldStopExecution,
  type StepPlan,
  type StopReason,
  traced,
} from '@helix-agents/core/runtime'
import type { RunOutcome } from '../agent-result.ts'
import { createModelCaller, tellRetry } from '../step/call-model.ts'
import { acceptOutput } from '../step/accept-output.ts'
import type { Run } from './run.ts'
import { noteOutcome, stepSpan } from '../observe/spans.ts'
import { runToolStep } from '../step/tool-step.ts'

/** How often an agent is told that its output is still missing. */
const MAX_REMINDERS = 2

const REMINDER: UserMessage = {
  role: 'user',
  content: 'Give the final result by calling the tool __finish__.',
}

/** Runs steps until the agent is done or the run is stopped. Store errors are thrown. */
export async function runLoop(run: Run): Promise<RunOutcome> {
  const callModel = createModelCaller(run)
  const reminders = { given: 0 }
  const slice = createTimeSlice()
  for (;;) {
    // Steps without real I/O leave timers, signals and the lease no turn.
    if (slice.due) await slice.pause()
    const stop = shouldStopExecution(run.stopConditions())
    if (stop !== undefined) return stopped(run, stop)
    const outcome = await traced(
      run.services.tracer,
      () => stepSpan(run),
      async (span) => {
        const reached = await runStep(run, callModel, reminders)
        noteOutcome(span, reached)
        return reached
      },
    )
    if (outcome !== undefined) return outcome
  }
}

async function runStep(
  run: Run,
  callModel: () => Promise<StepResult>,
  reminders: { given: number },
): Promise<RunOutcome | undefined> {
  const result = await tryModel(run, callModel)
  const outcome = 'status' in result ? result : await carryOut(run, result, reminders)
  await run.chunks.flush()
  return outcome
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

async function carryOut(
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
  await run.commit([message], outcome)
  return outcome
}

/** A text that is cut off is an answer: who asked may go on with it. */
function answered({ services, sessionId, runId }: Run, message: AssistantMessage): RunOutcome {
  const completed = { status: 'completed', output: message.content } as const
  if (message.isCutOff !== true) return completed
  services.logger.warn({ sessionId, runId }, 'the answer is cut off at the limit of tokens')
  return { ...completed, isCutOff: true }
}

async function finish(run: Run, message: AssistantMessage, given: unknown): Promise<RunOutcome> {
  const outcome = await untilAborted(acceptOutput(run.agent, given), run.control.signal)
  await run.commit([message], outcome)
  return outcome
}

/** The agent owes an output and gave a text: says so, a few times. */
async function remind(
  run: Run,
  message: Message,
  reminders: { given: number },
): Promise<RunOutcome | undefined> {
  if (reminders.given >= MAX_REMINDERS) {
    const outcome = failed('output-missing', 'the agent ended without giving its output')
    await run.commit([message], outcome)
    return outcome
  }
  reminders.given += 1
  await run.commit([message, REMINDER])
  return undefined
}

/** A run that would wait longer than this for its model ends, and can be resumed. */
const MAX_WAIT_MS = 600_000

/** The adapter asks for another try; it counts as a step, so that it ends some time. */
async function retryStep(run: Run, cause: unknown): Promise<RunOutcome | undefined> {
  const { control, services } = run
  const error = ModelError.isInstance(cause) ? cause : new ModelError('model-failed', { cause })
  const { retryAfterMs: delayMs = 0 } = error
  if (delayMs > MAX_WAIT_MS) return failStep(run, error)
  tellRetry(run, { error, attempt: 1, delayMs, discardsOutput: true })
  await run.commit([])
  // A stop ends the wait; the loop looks at it next.
  if (delayMs > 0) await Promise.allSettled([services.clock.sleep(delayMs, control.signal)])
  return undefined
}

/** The step stores no messages, but what it used counts for the run that resumes it. */
async function failStep(run: Run, cause: unknown): Promise<RunOutcome> {
  const { spending } = run.takeSpending()
  if (spending !== undefined) {
    await run.services.stateStore.appendMessages({ ...run.write(), messages: [], spending })
  }
  return modelFailed(run, cause)
}

function modelFailed(run: Run, cause: unknown): RunOutcome {
  run.services.logger.error({ err: cause, sessionId: run.sessionId }, 'model call failed')
  const message = HelixError.isInstance(cause) ? cause.message : 'the model call failed'
  const code = ModelError.isInstance(cause) ? cause.code : 'model-failed'
  return { status: 'failed', error: { code, message, cause } }
}

/** What a run that does not go on ends as. */
export function stopped(run: Run, reason: StopReason): RunOutcome {
  if (reason === 'interrupted') return { status: 'interrupted' }
  const { maxSteps } = run.agent
  if (isSpent(reason)) return overBudget(run, reason)
  if (reason === 'max-steps') {
    return failed('max-steps', `the agent did not end within ${maxSteps} steps`)
  }
  const { cause } = run.control
  if (reason === 'max-duration' || cause === 'max-duration') {
    const { maxDurationMs = run.agent.budget?.maxDurationMs } = run.agent
    return failed('max-duration', `the agent did not end within ${maxDurationMs} ms`)
  }
  return { status: cause === 'shutdown' ? 'interrupted' : 'aborted' }
}

type SpentReason = Exclude<BudgetLimit, 'max-duration'>

function isSpent(reason: StopReason): reason is SpentReason {
  return reason === 'max-tokens' || reason === 'max-cost' || reason === 'cost-unknown'
}

/** Its own budget, or that of the agent whose sub-agent it is. */
function overBudget({ meter }: Run, reason: SpentReason): RunOutcome {
  if (reason === 'cost-unknown') {
    return failed(reason, 'the budget limits the cost, and costOf has none for a model call')
  }
  const { totalTokens, cost, modelCalls } = meter.spending
  const used = reason === 'max-cost' ? `a cost of ${cost}` : `${totalTokens} tokens`
  return failed(reason, `the budget is used up: ${used} in ${modelCalls} model calls`)
}

function failed(code: string, message: string): RunOutcome {
  return { status: 'failed', error: { code, message } }
}
