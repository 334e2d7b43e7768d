import type { Agent } from '@helix-agents/core'
import type { RunOutcome } from '../agent-result.ts'

/** Checks an output that the model gave without the tool `__finish__`. */
export async function acceptOutput(agent: Agent, output: unknown): Promise<RunOutcome> {
  if (agent.outputSchema === undefined) return { status: 'completed', output }
  const result = await agent.outputSchema['~standard'].validate(output)
  if (!result.issues) return { status: 'completed', output: result.value }
  const problems = result.issues.map((issue) => issue.message).join('; ')
  return {
    status: 'failed',
    error: { code: 'output-invalid', message: `the output does not match its schema: ${problems}` },
  }
}
