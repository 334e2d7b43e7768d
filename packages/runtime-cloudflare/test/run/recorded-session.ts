// A session that does all that sessions do; each step of it can be cut off.
import {
  type Agent,
  createSubAgentTool,
  defineAgent,
  defineTool,
  type Message,
  type StepResult,
  type Tool,
} from '@helix-agents/core'
import { type Gate, say } from '../scripts.ts'

/** Where a session is cut off: at the n-th call of the model, or of a tool. */
export interface Cut {
  readonly of: 'model' | 'before effect' | 'after effect'
  readonly at: number
  readonly gate: Gate
}

const calls = (...named: readonly (readonly [name: string, input: object])[]): StepResult => ({
  type: 'tool_calls',
  toolCalls: named.map(([name, input], index) => ({
    id: `${name}-${index}-${JSON.stringify(input)}`,
    name,
    arguments: input,
  })),
})

const write = (path: string, content: string) =>
  ['workspace__files__write_file', { path, content }] as const

/** What the model does, by how many answers it has given. */
const steps: readonly StepResult[] = [
  calls(write('/a.txt', 'one')),
  calls(['record', { key: 'first' }]),
  calls(['record', { key: 'second' }], write('/b.txt', 'two')),
  calls(['subagent__helper', { task: 'help' }]),
  calls(['workspace__files__read_file', { path: '/a.txt' }], ['put', { key: 'again' }]),
  say('all done'),
]
const helperSteps: readonly StepResult[] = [
  calls(['record', { key: 'by the helper' }]),
  say('helped'),
]

export const MODEL_CALLS = steps.length + helperSteps.length
export const RECORD_CALLS = 3

export function recordedSession(cut?: Cut) {
  let modelCalls = 0
  let toolCalls = 0
  const pass = async (of: Cut['of'], at: number): Promise<void> => {
    if (cut?.of === of && cut.at === at) await cut.gate.pass()
  }
  const record = (ctx: DurableObjectState, name: string, idempotent: boolean): Tool =>
    defineTool({
      name,
      description: 'Keeps something.',
      inputSchema: { type: 'object', properties: { key: { type: 'string' } } },
      annotations: { readOnly: false, destructive: false, idempotent },
      execute: async (input) => {
        const at = ++toolCalls
        // A crash takes back what is not on disk yet: the journal here, the effect below.
        await ctx.storage.sync()
        await pass('before effect', at)
        const { key } = input as { readonly key: string }
        ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS effects (key TEXT)')
        ctx.storage.sql.exec('INSERT INTO effects VALUES (?)', key)
        await ctx.storage.sync()
        await pass('after effect', at)
        return `kept ${key}`
      },
    })
  return {
    brain: async (messages: readonly Message[], agentType: string): Promise<StepResult> => {
      await pass('model', ++modelCalls)
      const answers = messages.filter(({ role }) => role === 'assistant').length
      return (agentType === 'helper' ? helperSteps : steps)[answers] ?? say('too many')
    },
    agents: (ctx: DurableObjectState): readonly Agent[] => {
      const helper = defineAgent({
        name: 'helper',
        llmConfig: { model: 'scripted' },
        tools: [record(ctx, 'record', false)],
      })
      return [
        defineAgent({
          name: 'recorded',
          llmConfig: { model: 'scripted' },
          tools: [
            record(ctx, 'record', false),
            record(ctx, 'put', true),
            createSubAgentTool(helper, { type: 'object' }),
          ],
          workspaces: {
            files: { provider: { kind: 'cloudflare-filestore' }, capabilities: { fs: true } },
          },
        }),
      ]
    },
  }
}
