// The umbrella: names of other packages, and nothing of its own. Made by `pnpm sdk:gen`.
export {
  type CompatibleFactory,
  type Environment,
  fetchWithinOrigin,
  modelByName,
  type ModelProviders,
  type ProviderFactory,
  type UnreadableFile,
  VercelAIAdapter,
  type VercelAIAdapterOptions,
} from '@helix-agents/llm-vercel'

export { modelFromEnvironment } from '@helix-agents/llm-vercel/environment'
