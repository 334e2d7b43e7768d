import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Agent, JSAgentExecutor } from '@helix-agents/sdk'
import { modelFromEnvironment, VercelAIAdapter } from '@helix-agents/sdk/models'
import { LocalBashWorkspaceProvider, openSqliteStores } from '@helix-agents/sdk/node'
import { createAgent } from './agent.ts'
import { scriptedModel } from './scripted-model.ts'

export interface Assistant {
  readonly agent: Agent
  readonly executor: JSAgentExecutor
  /** Name of the model; absent when it is scripted. */
  readonly model: string | undefined
  /** Pauses a run that is under way; the next start continues it. */
  close(): Promise<void>
}

/**
 * @param folder Keeps the conversation and the files of the agent.
 * @param environment May name a model: see .env.example.
 */
export async function openAssistant(
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Assistant> {
  const model = await modelFromEnvironment(environment)
  mkdirSync(folder, { recursive: true })
  const { stateStore, streamManager, close } = await openSqliteStores(join(folder, 'sessions.db'))
  const llm = model === undefined ? scriptedModel : new VercelAIAdapter()
  const executor = new JSAgentExecutor(stateStore, streamManager, llm, {
    workspaceProviders: [new LocalBashWorkspaceProvider({ tmpdirRoot: folder })],
  })
  return {
    agent: createAgent(model ?? 'scripted'),
    executor,
    model: model?.modelId,
    close: async () => {
      await executor.shutdown()
      await close()
    },
  }
}
