import { type Agent, defineAgent, defineTool } from '@helix-agents/core'
import * as z from 'zod'
import type { Effects } from './effects.ts'

/** How many effects each turn has. */
export const STEPS = 6

/** The agent that the workers run. Its effects are outside of the framework, and so have keys of their own. */
export function createAgent(effects: Pick<Effects, 'record'>): Agent {
  const record = defineTool({
    name: 'record',
    description: 'Records a number. Safe to repeat: a number is recorded once.',
    inputSchema: z.object({ number: z.number().int() }),
    execute: async ({ number }, { sessionId }) => {
      await effects.record(sessionId, number)
      return `recorded ${number}`
    },
  })
  return defineAgent({
    name: 'clerk',
    description: 'Records numbers, one after the other.',
    systemPrompt: `Record the numbers from 1 to ${STEPS}. Repeat what has no result.`,
    llmConfig: { model: 'scripted' },
    tools: [record],
  })
}
