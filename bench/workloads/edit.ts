// One place in a 1 MiB file, found by text that occurs once, through the tool's own edit.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileSystem } from '@helix-agents/core/provider'
import { type Contender, measure } from '../harness/measure.ts'
import { diskPeers, memoryPeers, type PeerFileSystem } from '../harness/peer-file-systems.ts'
import { callTool } from '../harness/tools.ts'
import { report, type Verdict } from '../harness/report.ts'
import { openDisk, openMemory, temporaryFolder } from '../harness/workspaces.ts'

const LINES = 20_000
const text = Array.from({ length: LINES }, (_, i) => `line ${i}: the quick brown fox jumps over it`)
  .join('\n')
  .padEnd(1024 * 1024, '\n')
const bytes = Buffer.from(text)

export async function run(peers: boolean): Promise<Verdict[]> {
  const memory = await openMemory()
  const scan: Contender = {
    name: 'one Buffer.indexOf scan',
    run: (times) => {
      for (let i = 0; i < times; i++) bytes.indexOf('never in this text')
    },
  }
  const inMemory = await measure([
    scan,
    await ours(memory),
    ...(peers ? await theirs(await memoryPeers()) : []),
  ])
  const disk = await openDisk()
  const [limit, folder] = [temporaryFolder(), temporaryFolder()]
  const onDisk = await measure([
    readReplaceWrite(limit.path),
    await ours(disk.fs),
    ...(peers ? await theirs(await diskPeers(folder.path)) : []),
  ])
  await disk.close()
  limit.remove()
  folder.remove()
  const group = { ours: 'helix edit_file', unit: 'µs' } as const
  return [
    report({
      ...group,
      title: 'memory: edit one place in 1 MiB',
      limit: scan.name,
      measurements: inMemory,
      gate: { most: 1.8, peerLeast: 2.5 },
    }),
    report({
      ...group,
      title: 'disk: edit one place in 1 MiB, atomic',
      limit: 'node:fs sync read, replace, atomic write',
      measurements: onDisk,
      gate: { most: 1, peerLeast: 1.5 },
    }),
  ]
}

/** Alternates between two texts of one line, a different line each time. */
function nextEdit(step: number): { oldText: string; newText: string } {
  const line = (step * 7919) % LINES
  const turn = Math.floor(step / LINES) % 2 === 0
  return turn
    ? { oldText: `line ${line}: the quick`, newText: `line ${line}: THE QUICK` }
    : { oldText: `line ${line}: THE QUICK`, newText: `line ${line}: the quick` }
}

async function ours(fs: FileSystem): Promise<Contender> {
  await fs.writeFile('/edited.txt', text)
  const edit = callTool(fs, 'edit_file')
  let step = 0
  return {
    name: 'helix edit_file',
    run: async (times) => {
      for (let i = 0; i < times; i++) await edit({ path: '/edited.txt', ...nextEdit(step++) })
    },
  }
}

async function theirs(peers: readonly PeerFileSystem[]): Promise<Contender[]> {
  const contenders: Contender[] = []
  for (const { name, read, write } of peers) {
    await write('/edited.txt', text)
    let step = 0
    contenders.push({
      name,
      run: async (times) => {
        for (let i = 0; i < times; i++) {
          const { oldText, newText } = nextEdit(step++)
          const content = contentOf(await read('/edited.txt'))
          await write('/edited.txt', content.replace(oldText, newText))
        }
      },
    })
  }
  return contenders
}

/** memfs answers with bytes, deepagents with a record, the others with the text. */
function contentOf(answer: unknown): string {
  if (typeof answer === 'string') return answer
  if (Buffer.isBuffer(answer)) return answer.toString()
  const { data } = answer as { data?: { content: string } }
  if (data === undefined) throw new Error(`no text in ${JSON.stringify(answer).slice(0, 100)}`)
  return data.content
}

function readReplaceWrite(folder: string): Contender {
  const path = join(folder, 'edited.txt')
  writeFileSync(path, text)
  let step = 0
  return {
    name: 'node:fs sync read, replace, atomic write',
    run: (times) => {
      for (let i = 0; i < times; i++) {
        const { oldText, newText } = nextEdit(step++)
        writeFileSync(`${path}.new`, readFileSync(path, 'utf8').replace(oldText, newText))
        renameSync(`${path}.new`, path)
      }
    },
  }
}
