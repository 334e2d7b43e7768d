// What `history: 'step'` adds to a committed step: to one that read a file, and to one that wrote one.
import { join } from 'node:path'
import { defineAgent, type LLMAdapter, noopLogger, type StepResult } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { median } from '../../harness/measure.ts'
import { report, type Verdict } from '../../harness/report.ts'
import { temporaryFolder } from '../../harness/workspaces.ts'

const STEPS = 400
const ROUNDS = 7
const call = {
  read: { name: 'workspace__box__read_file', arguments: { path: '/a.txt' } },
  write: { name: 'workspace__box__write_file', arguments: { path: '/a.txt', content: 'text' } },
} as const
type Kind = keyof typeof call

export async function run(): Promise<Verdict[]> {
  return [await row('read', 1.1), await row('write', 2)]
}

async function row(kind: Kind, most: number): Promise<Verdict> {
  const [without, with_]: number[][] = [[], []]
  await steps(kind, false)
  await steps(kind, true)
  for (let round = 0; round < ROUNDS; round++) {
    without?.push(await steps(kind, false))
    with_?.push(await steps(kind, true))
  }
  return report({
    title: `history: a step that ${kind === 'read' ? 'changes no file' : 'writes a small file'}`,
    ours: "history: 'step'",
    limit: 'no history',
    measurements: [
      { name: 'no history', microseconds: median(without ?? []) },
      { name: "history: 'step'", microseconds: median(with_ ?? []) },
    ],
    gate: { most },
  })
}

/** Microseconds of one step. */
async function steps(kind: Kind, hasHistory: boolean): Promise<number> {
  const folder = temporaryFolder()
  const stores = await openSqliteStores(join(folder.path, 'steps.db'))
  const agent = defineAgent({
    name: 'stepper',
    llmConfig: { model: 'scripted' },
    maxSteps: STEPS + 10,
    workspaces: {
      box: {
        provider: { kind: 'in-memory' },
        capabilities: { fs: true },
        ...(hasHistory && { history: 'step' as const }),
      },
    },
  })
  const executor = new JSAgentExecutor(stores.stateStore, stores.streamManager, scripted(kind), {
    workspaceProviders: new Map([['in-memory', new InMemoryWorkspaceProvider()]]),
    logger: noopLogger,
  })
  const start = performance.now()
  const handle = await executor.execute(agent, 'go', { sessionId: 'history' })
  const { status } = await handle.result()
  const elapsedMs = performance.now() - start
  await stores.close()
  folder.remove()
  if (status !== 'completed') throw new Error(`the run is ${status}`)
  return (elapsedMs * 1000) / STEPS
}

/** The first step makes the file. */
function scripted(kind: Kind): LLMAdapter {
  let step = 0
  const next = (): StepResult => ({
    type: 'tool_calls',
    toolCalls: [{ id: `call-${step}`, ...call[step === 1 ? 'write' : kind] }],
  })
  const done: StepResult = { type: 'text', content: 'done', shouldStop: true }
  return { generateStep: async () => (step++ < STEPS ? next() : done) }
}
