// What 100,000 small files keep in memory.
import { openMemory } from '../harness/workspaces.ts'
import { report, type Verdict } from '../harness/report.ts'

const FILES = 100_000
const BYTES = 1024

export async function run(): Promise<Verdict[]> {
  const ours = await kept(async () => {
    const fs = await openMemory()
    for (let i = 0; i < FILES; i++) await fs.writeFile(pathOf(i), contentOf(i))
    return fs
  })
  const map = await kept(async () => {
    const files = new Map<string, Uint8Array>()
    const encoder = new TextEncoder()
    for (let i = 0; i < FILES; i++) files.set(pathOf(i), encoder.encode(contentOf(i)))
    return files
  })
  const measurements = [
    { name: 'Map of bytes', microseconds: map },
    { name: 'helix in-memory', microseconds: ours },
    { name: 'goal', microseconds: 230 },
  ]
  return [
    report({
      title: `memory: bytes a file on top of its ${BYTES}, ${FILES} files`,
      ours: 'helix in-memory',
      limit: 'goal',
      measurements,
      gate: { most: 1 },
      unit: 'B',
    }),
  ]
}

function pathOf(i: number): string {
  return `/package-${i % 300}/folder-${i % 7}/file-${i}.txt`
}

/** A flat string of its own, not a rope. */
function contentOf(i: number): string {
  return Buffer.from(`${i}`.padStart(BYTES, 'x'), 'latin1').toString('latin1')
}

async function kept(build: () => Promise<unknown>): Promise<number> {
  const before = used()
  const built = await build()
  const bytes = used() - before
  if (built === undefined) throw new Error('nothing was built')
  return bytes / FILES - BYTES
}

function used(): number {
  for (let i = 0; i < 3; i++) globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
