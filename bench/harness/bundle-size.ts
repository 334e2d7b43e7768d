import { gzipSync } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'
import { workerBuild } from './worker-build.ts'

export interface BundleSize {
  /** Minified and gzipped: what a program loads before it runs. */
  readonly bytes: number
  /** The same of the parts that it loads when it needs them. */
  readonly lazyBytes: number
  /** What is left for the platform, or outside. */
  readonly imports: readonly string[]
  /** Every file of it, also of the parts that it loads later. */
  readonly files: readonly string[]
  /** Minified bytes of each of our packages, largest first. */
  readonly packages: readonly (readonly [string, number])[]
}

/** @returns the size of our own code in a program for Node; its dependencies stay outside. */
export async function ownCodeSize(source: string): Promise<BundleSize> {
  return measure(
    await build({
      stdin: { contents: source, resolveDir: import.meta.dirname },
      ...output,
      platform: 'node',
      splitting: true,
      conditions: ['@helix-agents/source'],
      external: ['ai', 'diff', 'fflate', 'immer', 're2js', 'zod'],
      logLevel: 'error',
    }),
  )
}

/** @returns the size of our own code in a Worker that is uploaded in parts, without dependencies. */
export async function ownWorkerSize(source: string): Promise<BundleSize> {
  const stdin = { contents: source, resolveDir: import.meta.dirname }
  return measure(
    await build({ ...workerBuild, ...output, stdin, splitting: true, plugins: [withoutOthers] }),
  )
}

/** Leaves out every package that is not ours. */
const withoutOthers: Plugin = {
  name: 'without-others',
  setup: (bundler) =>
    bundler.onResolve({ filter: /^[^./]/ }, ({ path }) =>
      path.startsWith('@helix-agents/') ? undefined : { path, external: true },
    ),
}

/** @returns the size of a Worker with everything that it depends on: a Worker is one file. */
export async function workerSize(source: string): Promise<BundleSize> {
  const stdin = { contents: source, resolveDir: import.meta.dirname }
  return measure(await build({ ...workerBuild, ...output, stdin }))
}

const output = {
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  format: 'esm',
  outdir: '/out',
} as const

interface Built {
  readonly outputFiles: readonly { readonly path: string; readonly contents: Uint8Array }[]
  readonly metafile: Metafile
}

function measure({ outputFiles, metafile }: Built): BundleSize {
  const outputs = new Map(Object.entries(metafile.outputs))
  const entry =
    [...outputs.keys()].find((path) => outputs.get(path)?.entryPoint === '<stdin>') ?? ''
  const eager = new Set([entry])
  for (const path of eager) {
    for (const one of outputs.get(path)?.imports ?? []) {
      if (one.kind === 'import-statement' && outputs.has(one.path)) eager.add(one.path)
    }
  }
  const size = (wanted: boolean): number =>
    outputFiles
      .filter(
        ({ path }) =>
          [...eager].some((one) => path.endsWith(`/${one.split('/').at(-1)}`)) === wanted,
      )
      .reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).byteLength, 0)
  const chunks = [...outputs.values()]
  return {
    bytes: size(true),
    lazyBytes: size(false),
    imports: chunks.flatMap(({ imports }) =>
      imports.filter((one) => one.external).map((one) => one.path),
    ),
    files: chunks.flatMap(({ inputs }) => Object.keys(inputs)),
    packages: packagesOf(
      [...eager].flatMap((path) => Object.entries(outputs.get(path)?.inputs ?? {})),
    ),
  }
}

type Input = readonly [string, { readonly bytesInOutput: number }]

function packagesOf(inputs: readonly Input[]): BundleSize['packages'] {
  const sums = new Map<string, number>()
  for (const [path, { bytesInOutput }] of inputs) {
    const name = /packages\/(?<name>[^/]+)\/src\//.exec(path)?.groups?.name
    if (name !== undefined) sums.set(name, (sums.get(name) ?? 0) + bytesInOutput)
  }
  return [...sums].toSorted(([, a], [, b]) => b - a)
}
