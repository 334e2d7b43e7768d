// ls, glob and grep over real source trees, on disk and in memory.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { FileSystem } from '@helix-agents/core/provider'
import { corpus, type CorpusFile } from '../harness/corpus.ts'
import { type Contender, measure } from '../harness/measure.ts'
import { loadPeer } from '../harness/peers.ts'
import { type Gate, type Group, report, type Verdict } from '../harness/report.ts'
import { openDisk, openMemory, temporaryFolder } from '../harness/workspaces.ts'

const LITERAL = 'isPlainObject'
const REGEX = 'function\\s+is[A-Z]\\w+\\('
const SIZES = [1000, 10_000]
// The glob as a regular expression.
const TYPESCRIPT = /^\/(?:[^/]+\/)*[^/]*\.ts$/

export async function run(peers: boolean): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  for (const size of SIZES) {
    const files = corpus(size)
    verdicts.push(...(await memory(files)), ...(await disk(files, peers)))
  }
  return verdicts
}

async function memory(files: readonly CorpusFile[]): Promise<Verdict[]> {
  const fs = await openMemory()
  for (const { path, text } of files) await fs.writeFile(path, text)
  const paths = files.map((file) => file.path)
  const bytes = files.map((file) => Buffer.from(file.text))
  const needle = Buffer.from(LITERAL)
  const scan = (): unknown => paths.filter((path) => TYPESCRIPT.test(path)).toSorted()
  const pass = (): unknown => bytes.filter((content) => content.includes(needle)).length
  const label = `memory, ${files.length} files`
  return [
    await compare({
      title: `${label}: glob **/*.ts`,
      limitName: 'path scan',
      limit: scan,
      ours: globOf(fs),
      gate: { most: 1.2 },
    }),
    await compare({
      title: `${label}: grep literal`,
      limitName: 'Buffer.indexOf pass',
      limit: pass,
      ours: grepOf(fs),
      gate: { most: 1.2 },
    }),
  ]
}

async function disk(files: readonly CorpusFile[], peers: boolean): Promise<Verdict[]> {
  const ours = await openDisk()
  const plain = temporaryFolder()
  for (const { path, text } of files) {
    const absolute = join(plain.path, path)
    mkdirSync(dirname(absolute), { recursive: true })
    writeFileSync(absolute, text)
    await ours.fs.writeFile(path, text)
  }
  const label = `disk, ${files.length} files`
  const ripgrep = await ripgrepPath(peers)
  const verdicts = [
    await compare({
      title: `${label}: glob **/*.ts`,
      limitName: 'readdirSync walk',
      limit: () => walk(plain.path).filter((path) => path.endsWith('.ts')),
      ours: globOf(ours.fs),
      gate: { most: 1.3 },
      peers: peers ? await globPeers(plain.path) : [],
    }),
    ...(await grepOnDisk(label, ours.fs, plain.path, ripgrep)),
  ]
  await ours.close()
  plain.remove()
  return verdicts
}

async function grepOnDisk(
  label: string,
  fs: FileSystem,
  folder: string,
  ripgrep: string | undefined,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  for (const [kind, pattern] of [
    ['literal', LITERAL],
    ['regex', REGEX],
  ] as const) {
    const mode = kind === 'literal' ? '-F' : '-e'
    const limit =
      ripgrep === undefined
        ? readAndSearch(folder, pattern, kind)
        : () => spawnSync(ripgrep, ['-uu', '-j2', '-n', mode, pattern, folder])
    const name = ripgrep === undefined ? 'readFileSync, split, test' : 'ripgrep -uu -j2'
    const ours = (): unknown => fs.grep(pattern, { mode: kind, maxResults: 100_000 })
    const title = `${label}: grep ${kind}`
    verdicts.push(await compare({ title, limitName: name, limit, ours, gate: { most: 1.2 } }))
    await sameHits(label, fs, { pattern, kind, folder, ripgrep })
  }
  return verdicts
}

interface Query {
  readonly pattern: string
  readonly kind: 'literal' | 'regex'
  readonly folder: string
  readonly ripgrep: string | undefined
}

/** Speed means nothing while hits are missing. */
async function sameHits(label: string, fs: FileSystem, query: Query): Promise<void> {
  if (query.ripgrep === undefined) return
  const mode = query.kind === 'literal' ? '-F' : '-e'
  const args = ['-uu', '-n', '--no-heading', mode, query.pattern, query.folder]
  const { stdout } = spawnSync(query.ripgrep, args, { encoding: 'utf8', maxBuffer: 1e9 })
  const theirs = stdout.split('\n').filter((line) => /:\d+:/.test(line)).length
  const { matches } = await fs.grep(query.pattern, { mode: query.kind, maxResults: 100_000 })
  if (matches.length !== theirs) {
    throw new Error(`${label}: ${matches.length} hits, ripgrep has ${theirs}`)
  }
}

function globOf(fs: FileSystem): () => unknown {
  return () => fs.glob('**/*.ts')
}

function grepOf(fs: FileSystem): () => unknown {
  return () => fs.grep(LITERAL, { mode: 'literal', maxResults: 100_000 })
}

interface Comparison {
  readonly title: string
  readonly limitName: string
  readonly limit: () => unknown
  readonly ours: () => unknown
  readonly gate: Gate
  readonly peers?: readonly Contender[]
}

async function compare(comparison: Comparison): Promise<Verdict> {
  const { title, limitName, limit, ours, gate, peers = [] } = comparison
  const contenders = [repeat(limitName, limit), repeat('helix', ours), ...peers]
  const measurements = await measure(contenders, { rounds: 5, sampleMs: 150 })
  const group: Group = { title, ours: 'helix', limit: limitName, measurements, gate, unit: 'ms' }
  return report(group)
}

function repeat(name: string, task: () => unknown): Contender {
  return {
    name,
    run: async (times) => {
      for (let i = 0; i < times; i++) await task()
    },
  }
}

async function globPeers(folder: string): Promise<Contender[]> {
  type Glob = (patterns: string[], options: object) => Promise<string[]>
  const fast = await loadPeer<{ default: Glob }>('fast-glob')
  const tiny = await loadPeer<{ glob: Glob }>('tinyglobby')
  const options = { cwd: folder, dot: true }
  return [
    ...(fast ? [repeat('fast-glob', () => fast.default(['**/*.ts'], options))] : []),
    ...(tiny ? [repeat('tinyglobby', () => tiny.glob(['**/*.ts'], options))] : []),
  ]
}

async function ripgrepPath(peers: boolean): Promise<string | undefined> {
  if (!peers) return undefined
  return (await loadPeer<{ rgPath: string }>('@vscode/ripgrep'))?.rgPath
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? walk(path) : [path]
  })
}

function readAndSearch(folder: string, pattern: string, kind: string): () => unknown {
  const test: (line: string) => boolean =
    kind === 'literal' ? (line) => line.includes(pattern) : (line) => new RegExp(pattern).test(line)
  return () => walk(folder).flatMap((path) => readFileSync(path, 'utf8').split('\n').filter(test))
}
