import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MockLLMAdapter, type WorkspaceDescription } from '@helix-agents/core'
import { type AgentHandle, JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStreamManager } from '@helix-agents/store-memory'
import { createMaintainer } from './agent.ts'
import { Narrator, type Tally } from './narrator.ts'
import { type Kind, openPlace } from './providers.ts'
import { openRecordedStore } from './recorded-store.ts'
import { firstPart, secondPart } from './story.ts'

/** What a process leaves for the summary. */
export interface Report {
  readonly pid: number
  readonly status: string
  readonly tally: Tally
  readonly wallMs: number
  readonly workspaces: readonly WorkspaceDescription[]
}

export interface Stage {
  readonly part: 'first' | 'second'
  readonly kind: Kind
  /** Kept between the two processes. */
  readonly folder: string
}

const sessionId = 'months'

/** Plays one part of the story in this process. The first ends paused, the second completed. */
export async function runStage(stage: Stage): Promise<void> {
  const startedAt = performance.now()
  const { executor, begin } = await prepare(stage)
  const handle = await begin()
  const narrator = new Narrator(console.log)
  let workspaces: readonly WorkspaceDescription[] = []
  for await (const chunk of handle.stream()) {
    narrator.show(chunk)
    workspaces = executor.getWorkspaceRegistry(sessionId)?.describe() ?? workspaces
  }
  const { status, error } = await handle.result()
  const expected = stage.part === 'first' ? 'interrupted' : 'completed'
  if (status !== expected)
    throw new Error(`the run is ${status}, not ${expected}`, { cause: error })
  const report: Report = {
    pid: process.pid,
    status,
    tally: narrator.tally,
    wallMs: Math.round(performance.now() - startedAt),
    workspaces,
  }
  writeFileSync(join(stage.folder, `${stage.part}.json`), JSON.stringify(report))
}

interface Prepared {
  readonly executor: JSAgentExecutor
  readonly begin: () => Promise<AgentHandle>
}

async function prepare({ part, kind, folder }: Stage): Promise<Prepared> {
  const { selection, hasShell, isDurable, providers } = openPlace(kind, folder)
  const agent = createMaintainer(selection, hasShell)
  let handle: AgentHandle | undefined
  const script =
    part === 'first'
      ? firstPart(hasShell, () => void handle?.interrupt())
      : secondPart(hasShell, isDurable)
  const executor = new JSAgentExecutor(
    await openRecordedStore(join(folder, 'session.jsonl')),
    new InMemoryStreamManager(),
    new MockLLMAdapter(script),
    { workspaceProviders: providers },
  )
  const begin = async (): Promise<AgentHandle> => {
    handle =
      part === 'first'
        ? await executor.execute(agent, 'Teach ms about months.', { sessionId })
        : await executor.resume(agent, sessionId, { message: 'Go on where you were.' })
    return handle
  }
  return { executor, begin }
}
