import { join } from 'node:path'
import { VercelAIAdapter } from '@helix-agents/llm-vercel'
import { modelFromEnvironment } from '@helix-agents/llm-vercel/environment'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import type { Hono } from 'hono'
import { createNoteTaker } from './agent.ts'
import { createChatApp } from './app.ts'
import { bundlePage } from './bundle-page.ts'
import { scriptedModel } from './scripted-model.ts'

export interface Chat {
  readonly app: Hono
  readonly model: string
  /** Answers under way are paused; chats and notes stay. */
  close(): Promise<void>
}

/** @param folder Keeps chats and notes. */
export async function openChat(
  folder: string,
  environment: Readonly<Record<string, string | undefined>> = {},
): Promise<Chat> {
  const model = await modelFromEnvironment(environment)
  const { stateStore, streamManager, close } = await openSqliteStores(join(folder, 'chats.db'))
  const provider = new LocalBashWorkspaceProvider({ tmpdirRoot: folder })
  const adapter = model === undefined ? scriptedModel : new VercelAIAdapter()
  const executor = new JSAgentExecutor(stateStore, streamManager, adapter, {
    workspaceProviders: [provider],
  })
  const agent = createNoteTaker(model ?? 'scripted')
  return {
    app: createChatApp({ agent, executor, stateStore, page: await bundlePage() }),
    model: model?.modelId ?? 'scripted',
    close: async () => {
      await executor.shutdown()
      await close()
    },
  }
}
