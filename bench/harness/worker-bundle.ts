import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { workerBuild } from './worker-build.ts'

export interface WorkerBundle {
  /** Minified and gzipped, with all dependencies. */
  readonly bytes: number
  /** What the platform has to bring: every import that is left. */
  readonly imports: readonly string[]
}

/** Bundles a Worker, to tell its size. */
export async function bundleWorker(source: string): Promise<WorkerBundle> {
  const { outputFiles, metafile } = await build({
    ...workerBuild,
    minify: true,
    metafile: true,
    stdin: { contents: source, resolveDir: import.meta.dirname },
  })
  const [output] = Object.values(metafile.outputs)
  const imports = output?.imports.map(({ path }) => path) ?? []
  return { bytes: gzipSync(outputFiles[0]!.contents, { level: 9 }).byteLength, imports }
}

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
