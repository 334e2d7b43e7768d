import { type BundleSize, ownCodeSize, ownWorkerSize, workerSize } from './bundle-size.ts'

/** A program whose size is measured. */
export interface Bundle {
  readonly name: string
  /** Kilobytes of 1,024 bytes: what we want. */
  readonly goalKb: number
  /** What it may be at most today. A change that makes it smaller lowers it. */
  readonly limitKb: number
  /** What the platform brings. Default: anything. */
  readonly imports?: readonly string[]
  readonly size: () => Promise<BundleSize>
}

const agent = (kind: string): string => `
  import { defineAgent } from '@helix-agents/core'
  export const agent = defineAgent({
    name: 'a',
    llmConfig: { model: 'm' },
    workspaces: { box: { provider: { kind: '${kind}' }, capabilities: { fs: true } } },
  })`

const inMemory = `
  import { JSAgentExecutor } from '@helix-agents/runtime-js'
  import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
  import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
  export const start = (model) =>
    new JSAgentExecutor(new InMemoryStateStore(), new InMemoryStreamManager(), model, {
      workspaceProviders: [new InMemoryWorkspaceProvider()],
    })`

const providers = `
  export { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
  export { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'`

export const bundles: readonly Bundle[] = [
  {
    name: 'core, everything of its first entry point',
    goalKb: 30,
    limitKb: 30,
    size: () => ownCodeSize("export * from '@helix-agents/core'"),
  },
  {
    name: 'an agent with one workspace, core alone',
    goalKb: 30,
    limitKb: 26,
    size: () => ownCodeSize(agent('in-memory')),
  },
  {
    name: 'core, memory and local-bash',
    goalKb: 45,
    limitKb: 45,
    size: () => ownCodeSize(`${agent('local-bash')}${providers}`),
  },
  {
    name: 'an agent that runs in memory',
    goalKb: 60,
    limitKb: 115,
    size: () => ownCodeSize(`${agent('in-memory')}${inMemory}`),
  },
  {
    name: 'a Worker with runtime and stores, own code in parts',
    goalKb: 115,
    limitKb: 139,
    size: () => ownWorkerSize(workerSource({ hasFiles: false })),
  },
  {
    name: 'a Worker with the filestore too, own code in parts',
    goalKb: 165,
    limitKb: 165,
    size: () => ownWorkerSize(workerSource({ hasFiles: true })),
  },
  {
    name: 'a Worker with runtime and stores, all dependencies in one file',
    goalKb: 200,
    limitKb: 224,
    imports: ['cloudflare:workers'],
    size: () => workerSize(workerSource({ hasFiles: false })),
  },
  {
    name: 'a Worker with the filestore too, all dependencies in one file',
    goalKb: 270,
    limitKb: 296,
    imports: ['cloudflare:workers'],
    size: () => workerSize(workerSource({ hasFiles: true })),
  },
]

/** The least that runs an agent in Durable Objects; with files, or without. */
export function workerSource(options: { readonly hasFiles: boolean }): string {
  const provider = options.hasFiles
    ? `import { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'
       export const providers = ({ storage }) => [new CloudflareFileStoreWorkspaceProvider({ storage })]`
    : 'export const providers = () => []'
  return `import { defineAgent } from '@helix-agents/core'
    import { createAgentServer, routeAgentRequest } from '@helix-agents/runtime-cloudflare'
    ${provider}
    const agent = defineAgent({ name: 'a', llmConfig: { model: 'm' } })
    export class Agents extends createAgentServer({
      agents: [agent], llmAdapter: (env) => env.model, workspaceProviders: (_, ctx) => providers(ctx)
    }) {}
    export default {
      fetch: (request, env) => routeAgentRequest(request, env, { binding: 'AGENTS', authenticate: () => null })
    }`
}
