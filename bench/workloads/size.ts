// Import time in a fresh process, and bundle size beside the dependencies.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { median } from '../harness/measure.ts'
import { report, type Verdict } from '../harness/report.ts'
import { bundleWorker, workerSource } from '../harness/worker-bundle.ts'

const root = join(import.meta.dirname, '../..')
const KB = 1024

export async function run(): Promise<Verdict[]> {
  const core = await bundled(['core'])
  const withProviders = await bundled(['core', 'workspace-memory', 'workspace-local-bash'])
  const figures = importTimes()
  return [
    report({
      title: 'size: import of core, built, in a fresh process',
      ours: 'core',
      limit: 'zod alone',
      measurements: [
        { name: 'zod alone', microseconds: figures.zod },
        { name: 'core', microseconds: figures.core },
      ],
      gate: { most: 1.4 },
      unit: 'ms',
    }),
    bundle('size: core without dependencies, gzipped', core, 15 * KB),
    bundle('size: core, memory and local-bash, gzipped', withProviders, 25 * KB),
    await worker('runtime and stores', false, 140 * KB),
    await worker('runtime, stores and filestore', true, 210 * KB),
  ]
}

/** With everything it depends on. */
async function worker(parts: string, hasFiles: boolean, most: number): Promise<Verdict> {
  const { bytes } = await bundleWorker(workerSource({ hasFiles }))
  return bundle(`size: a Worker with ${parts}, gzipped`, bytes, most)
}

function bundle(title: string, bytes: number, most: number): Verdict {
  const measurements = [
    { name: 'goal', microseconds: most },
    { name: 'ours', microseconds: bytes },
  ]
  return report({ title, ours: 'ours', limit: 'goal', measurements, gate: { most: 1 }, unit: 'B' })
}

/** Our own code only: what packages depend on stays outside. */
async function bundled(packages: readonly string[]): Promise<number> {
  const names = packages.map((name) => `export * from '@helix-agents/${name}'`)
  const { outputFiles } = await build({
    stdin: { contents: names.join('\n'), resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'node',
    conditions: ['@helix-agents/source'],
    external: ['zod', 'diff', 're2js', 'immer'],
    logLevel: 'error',
  })
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).byteLength
}

/** Microseconds of the import statement alone; needs the build. */
function importTimes(): { zod: number; core: number } {
  const rounds = Array.from({ length: 7 }, () => ({
    zod: importTime('zod'),
    core: importTime('@helix-agents/core'),
  }))
  return {
    zod: median(rounds.map((round) => round.zod)),
    core: median(rounds.map((round) => round.core)),
  }
}

function importTime(specifier: string): number {
  const script = `const start = process.hrtime.bigint()
await import('${specifier}')
console.log(Number(process.hrtime.bigint() - start) / 1000)`
  const args = ['--input-type=module', '-e', script]
  const { stdout } = spawnSync(process.execPath, args, { cwd: join(root, 'bench') })
  return Number(String(stdout))
}
