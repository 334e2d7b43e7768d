export type { VercelAIAdapterOptions } from './adapter-options.ts'
export { fetchWithinOrigin } from './fetch-within-origin.ts'
export {
  type CompatibleFactory,
  type Environment,
  modelByName,
  type ModelProviders,
  type ProviderFactory,
} from './model-by-name.ts'
export type { UnreadableFile } from './prompt/unreadable-files.ts'
export { VercelAIAdapter } from './vercel-ai-adapter.ts'
