// A program that is bundled into one file, as wrangler does it.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build, type Metafile } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'

let folder = ''
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'helix-one-file-'))))
afterAll(() => rm(folder, { recursive: true }))

async function bundle(names: readonly string[]) {
  const outfile = join(folder, 'program.mjs')
  const { metafile } = await build({
    stdin: {
      contents: names.map((name, index) => `export * as part${index} from '${name}'`).join('\n'),
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@helix-agents/source'],
    external: ['cloudflare:*'],
    banner: {
      js: "import { createRequire as from } from 'node:module'; var require = from(import.meta.url)",
    },
    metafile: true,
    outfile,
    logLevel: 'silent',
  })
  return { metafile, outfile }
}

const ours = ['core', 'llm-vercel', 'runtime-js', 'store-memory', 'workspace-memory'].map(
  (name) => `@helix-agents/${name}`,
)

test.each([[['ai', ...ours]], [[...ours, 'ai']], [[...ours.toReversed(), 'ai']]])(
  'starts, whatever it imports first: %s',
  async (names) => {
    const { outfile } = await bundle(names)
    const count = `import('${outfile}').then((parts) => console.log(Object.keys(parts).length))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--eval', count])
    expect(stdout.trim()).toBe(String(names.length))
  },
)

/** Files that an `import()` of the packages loads, and all that these import. */
function loadedLater({ inputs }: Metafile): ReadonlyMap<string, ReadonlySet<string>> {
  const within = (start: string): ReadonlySet<string> => {
    const found = new Set([start])
    for (const file of found) {
      for (const { kind, path } of inputs[file]?.imports ?? []) {
        if (kind !== 'dynamic-import') found.add(path)
      }
    }
    return found
  }
  const lazy = Object.entries(inputs)
    .filter(([file]) => file.includes('packages/'))
    .flatMap(([, { imports }]) => imports.filter(({ kind }) => kind === 'dynamic-import'))
  return new Map(lazy.map(({ path }) => [path, within(path)]))
}

// esbuild wraps all that an `import()` reaches, and leaves out that `ai` needs zod first: a program in one
// file that imports `ai` before everything else would not start.
test('no part that loads later reads zod', async () => {
  const { metafile } = await bundle([
    ...ours,
    '@helix-agents/runtime-cloudflare',
    '@helix-agents/shell-just-bash',
    '@helix-agents/workspace-cloudflare-filestore',
  ])
  const later = loadedLater(metafile)
  expect(later.size).toBeGreaterThan(5)
  const readers = [...later].filter(([, files]) =>
    [...files].some((file) => file.includes('/zod/')),
  )
  expect(readers.map(([file]) => file)).toEqual([])
})
