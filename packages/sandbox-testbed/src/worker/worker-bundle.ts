import type { BuildOptions, BuildResult } from 'esbuild'
import { SandboxTestbedError } from '../testbed-error.ts'
import { classesOf } from './testbed-worker.ts'
import type { WorkerSettings } from './worker-settings.ts'

/**
 * Bundles a Worker as a deployment would.
 *
 * @throws {SandboxTestbedError} worker-build-failed
 */
export async function bundleWorker(settings: WorkerSettings): Promise<string> {
  if (settings.entry === undefined && settings.script === undefined) {
    throw new SandboxTestbedError(
      'worker-build-failed',
      'the Worker has no `entry` and no `script`',
    )
  }
  const { outputFiles, metafile } = await bundle(settings)
  const exported = Object.values(metafile.outputs).flatMap((output) => output.exports)
  const missing = classesOf(settings).filter((className) => !exported.includes(className))
  if (missing.length > 0) {
    const text = `the Worker does not export ${missing.join(', ')}; it exports ${exported.join(', ')}`
    throw new SandboxTestbedError('worker-build-failed', text)
  }
  return outputFiles[0]?.text ?? ''
}

async function bundle(
  settings: WorkerSettings,
): Promise<BuildResult<{ write: false; metafile: true }>> {
  const { build } = await import('esbuild')
  try {
    return await build({
      ...source(settings),
      alias: { ...settings.alias },
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'neutral',
      target: 'es2024',
      mainFields: ['module', 'main'],
      conditions: ['@helix-agents/source', 'workerd', 'worker', 'browser'],
      external: ['cloudflare:*', 'node:*'],
      logLevel: 'silent',
    })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new SandboxTestbedError('worker-build-failed', message, { cause: error })
  }
}

function source({ entry, script, resolveDirectory }: WorkerSettings): BuildOptions {
  if (entry !== undefined) return { entryPoints: [entry] }
  const resolveDir = resolveDirectory ?? process.cwd()
  return { stdin: { contents: script ?? '', resolveDir, loader: 'ts' } }
}
