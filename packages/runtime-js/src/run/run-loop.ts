import { createTimeSlice } from '@helix-agents/core/provider'
import { shouldStopExecution, type StopConditions, traced } from '@helix-agents/core/runtime'
import type { RunOutcome } from '../agent-result.ts'
import { recordOutcome, stepSpan } from '../observe/spans.ts'
import type { Run } from '../ports.ts'
import { createStepRunner } from '../step/run-step.ts'
import { deliverQueued } from './inbox.ts'
import { stopped } from '../step/stop-outcome.ts'

/** Runs steps until the agent is done or the run is stopped. Store errors are thrown. */
export async function runLoop(run: Run): Promise<RunOutcome> {
  const runStep = createStepRunner(run)
  const slice = createTimeSlice()
  for (;;) {
    // Steps without real I/O leave timers, signals and the lease no turn.
    if (slice.due) await slice.pause()
    const stop = shouldStopExecution(stopConditions(run))
    if (stop !== undefined) return stopped(run, stop)
    if (run.inbox.mayHaveMessages) await deliverQueued(run, 'steer')
    const outcome = await traced(
      run.services.tracer,
      () => stepSpan(run),
      async (span) => {
        const reached = await runStep()
        recordOutcome(span, reached)
        return reached
      },
    )
    if (outcome !== undefined) return outcome
  }
}

function stopConditions({ agent, control, meter, recorder }: Run): StopConditions {
  const { maxSteps, maxDurationMs } = agent
  return {
    aborted: control.cause !== undefined,
    interrupted: control.interrupted,
    steps: recorder.runSteps,
    maxSteps,
    elapsedMs: meter.elapsedMs,
    reachedLimit: meter.reachedLimit,
    ...(maxDurationMs !== undefined && { maxDurationMs }),
  }
}
