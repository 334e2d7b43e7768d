// A program that is built in parts may not get one of them: a network fails, or a deployment took it away.
import { execFile } from 'node:child_process'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'

interface Program {
  readonly entry: string
  /** What its runtime loads on demand. */
  readonly part: string
}

/** Bundles a program in parts. */
async function buildInParts(name: string): Promise<Program> {
  const outdir = await mkdtemp(join(tmpdir(), 'helix-parts-'))
  onTestFinished(() => rm(outdir, { recursive: true }))
  const { metafile } = await build({
    entryPoints: [join(import.meta.dirname, `workers/${name}.ts`)],
    absWorkingDir: outdir,
    outdir: '.',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    metafile: true,
    format: 'esm',
    platform: 'node',
    conditions: ['@helix-agents/source'],
    logLevel: 'error',
  })
  const [part = ''] =
    Object.entries(metafile.outputs).find(([, { entryPoint = '' }]) =>
      entryPoint.endsWith('runtime-js/src/on-demand.ts'),
    ) ?? []
  return { entry: join(outdir, `${name}.mjs`), part: join(outdir, part) }
}

test('what needs a part that is missing fails with that error, and works once it is there', async () => {
  const { entry, part } = await buildInParts('incomplete-program')
  await rename(part, `${part}.missing`)
  const { stdout } = await promisify(execFile)(process.execPath, [entry, part])
  const missing = 'ERR_MODULE_NOT_FOUND'
  expect(JSON.parse(stdout)).toEqual({
    // Runs need no such part; the session is free after each failure.
    told: ['completed', missing, missing, 'completed', 'removed'],
    left: null,
  })
})

test('a program that has loaded everything needs its files no more', async () => {
  const { entry } = await buildInParts('preloaded-program')
  const { stdout } = await promisify(execFile)(process.execPath, [entry])
  expect(JSON.parse(stdout)).toEqual({
    parts: true,
    status: 'completed',
    isError: false,
    left: null,
  })
})
