import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Agent, JSAgentExecutor } from '@helix-agents/sdk'
import { modelFromEnvironment, VercelAIAdapter } from '@helix-agents/sdk/models'
import {
  LocalBashWorkspaceProvider,
  openSqliteStores,
  type SqliteStores,
} from '@helix-agents/sdk/node'
import { createAgent } from './agent.ts'
import { scriptedModel } from './scripted-model.ts'

export interface Chat {
  readonly agent: Agent
  readonly executor: JSAgentExecutor
  readonly stateStore: SqliteStores['stateStore']
  /** Name of the model; absent when it is scripted. */
  readonly model: string | undefined
  /** Pauses the answers under way. Chats and notes stay. */
  close(): Promise<void>
}

/**
 * @param folder Keeps the chats and the notes.
 * @param environment May name a model: see .env.example.
 */
export async function openChat(
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Chat> {
  const model = await modelFromEnvironment(environment)
  mkdirSync(folder, { recursive: true })
  const { stateStore, streamManager, close } = await openSqliteStores(join(folder, 'chats.db'))
  const llm = model === undefined ? scriptedModel : new VercelAIAdapter()
  const executor = new JSAgentExecutor(stateStore, streamManager, llm, {
    workspaceProviders: [new LocalBashWorkspaceProvider({ tmpdirRoot: folder })],
  })
  return {
    agent: createAgent(model ?? 'scripted'),
    executor,
    stateStore,
    model: model?.modelId,
    close: async () => {
      await executor.shutdown()
      await close()
    },
  }
}
