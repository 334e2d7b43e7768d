import type { BuildOptions } from 'esbuild'

/** How Workers are bundled here: as wrangler does, without its compatibility layer for Node. */
export const workerBuild = {
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'neutral',
  target: 'es2024',
  mainFields: ['module', 'main'],
  conditions: ['@helix-agents/source', 'workerd', 'worker', 'browser'],
  external: ['cloudflare:*', 'node:*'],
  logLevel: 'error',
} satisfies BuildOptions
