import { type Agent, defineAgent, defineTool } from '@helix-agents/core'
import * as z from 'zod'
import type { Effects } from './effects.ts'

/** How many effects each turn has. */
export const STEPS = 6

/**
 * The agent that the workers run. Its effects are outside of the framework, and so have keys of their own;
 * its notes are files of a workspace, which come back on another machine with the history.
 */
export function createAgent(effects: Pick<Effects, 'record' | 'noteFiles'>): Agent {
  const record = defineTool({
    name: 'record',
    description: 'Records a number. Safe to repeat: a number is recorded once.',
    inputSchema: z.object({ number: z.number().int() }),
    execute: async ({ number }, { sessionId, workspaces }) => {
      await effects.record(sessionId, number)
      await workspaces.use('desk', async ({ live }) =>
        live.fs?.writeFile(`/${number}`, `${number}`),
      )
      return `recorded ${number}`
    },
  })
  const check = defineTool({
    name: 'check',
    description: 'The numbers from 1 on that have no file.',
    inputSchema: z.object({}),
    execute: async (_, { sessionId, workspaces }) => {
      const files = await workspaces.use('desk', async ({ live }) => live.fs?.ls('/'))
      const names = new Set(files?.map(({ name }) => name))
      await effects.noteFiles(sessionId, names.size)
      const numbers = Array.from({ length: STEPS }, (__, index) => index + 1)
      const missing = numbers.filter((number) => !names.has(`${number}`))
      return `missing: ${missing.join(' ') || 'none'}`
    },
  })
  return defineAgent({
    name: 'clerk',
    description: 'Records numbers, one after the other.',
    systemPrompt: `Record the numbers from 1 to ${STEPS}. Repeat what has no result. Then check.`,
    llmConfig: { model: 'scripted' },
    tools: [record, check],
    workspaces: {
      desk: { provider: { kind: 'local-bash' }, capabilities: { fs: true }, history: 'step' },
    },
  })
}
