// Import time in a fresh process, and sizes of bundles with the share of each package.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type Bundle, bundles } from '../harness/bundles.ts'
import { median } from '../harness/measure.ts'
import { report, type Verdict } from '../harness/report.ts'

const root = join(import.meta.dirname, '../..')
const KB = 1024

export async function run(): Promise<Verdict[]> {
  const sizes = []
  for (const bundle of bundles) sizes.push(await sizeOf(bundle))
  return [...sizes, importVerdict()]
}

async function sizeOf(bundle: Bundle): Promise<Verdict> {
  const { bytes, lazyBytes, packages } = await bundle.size()
  const verdict = report({
    title: `size: ${bundle.name}, gzipped`,
    ours: 'ours',
    limit: 'goal',
    measurements: [
      { name: 'goal', microseconds: bundle.goalKb * KB },
      { name: 'ours', microseconds: bytes },
    ],
    gate: { most: 1 },
    unit: 'B',
  })
  const shares = packages.map(([name, size]) => `${name} ${(size / KB).toFixed(1)}`)
  console.log(`  minified kB: ${shares.join(', ')}`)
  if (lazyBytes > 0) console.log(`  loaded when needed: ${(lazyBytes / KB).toFixed(1)} kB gzipped`)
  return verdict
}

/** Needs the build. */
function importVerdict(): Verdict {
  const figures = importTimes()
  return report({
    title: 'size: import of core, built, in a fresh process',
    ours: 'core',
    limit: 'zod alone',
    measurements: [
      { name: 'zod alone', microseconds: figures.zod },
      { name: 'core', microseconds: figures.core },
    ],
    gate: { most: 1.4 },
    unit: 'ms',
  })
}

/** Microseconds of the import statement alone. */
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
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: join(root, 'bench') })
  if (status !== 0) throw new Error(`run pnpm build first: ${String(stderr)}`)
  return Number(String(stdout))
}
