import { mkdirSync, mkdtempSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { FileStat } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import {
  type BoundRow,
  createNodeWorkHost,
  defineBounds,
  renderBoundTable,
} from '@helix-agents/workspace-conformance/bounds'
import { afterAll, it } from 'vitest'
import { TestHost } from './open-workspace.ts'

const sampler = new TestSampler()
const rows: BoundRow[] = []
afterAll(() => process.stdout.write(`${renderBoundTable(rows)}\n`))

defineBounds(
  { it, fails: it.fails },
  {
    capabilities: { fs: true, shell: true, snapshot: true, branch: true },
    plants: ['deep-tree', 'sparse-file'],
    extras: ['background', 'stored-output', 'progress'],
    whole: sampler.isExhaustive,
    create: async () => {
      const host = new TestHost()
      const { ws } = await host.open()
      return {
        provider: host.provider.providerId,
        workspace: ws,
        capabilities: host.provider.capabilities,
        host: createNodeWorkHost(process),
        files: { writeFile: async (path, data) => plantFile(join(ws.shellRoot, path), data) },
        report: (row) => void rows.push(row),
        plants: {
          deepTree: async (depth) => nest(ws.shellRoot, host.tmpdirRoot, depth),
          sparseFile: async (path, bytes) => {
            writeFileSync(join(ws.shellRoot, path), '')
            truncateSync(join(ws.shellRoot, path), bytes)
          },
        },
        dispose: () => host.dispose(),
      }
    },
  },
)

/** As the workspace would make it, without its care for races and crashes. */
function plantFile(path: string, data: Uint8Array | string): FileStat {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, data)
  return { path, type: 'file', size: data.length, mtime: new Date(0), version: 'planted' }
}

const PIECE = 500

/** Paths of the host are shorter than the tree is deep: it is made from its deepest end. */
function nest(root: string, scratch: string, depth: number): void {
  let top = mkdtempSync(join(scratch, 'deep-'))
  for (let made = 1; made < depth; made += PIECE) {
    const above = mkdtempSync(join(scratch, 'deep-'))
    const piece = Array.from({ length: Math.min(PIECE, depth - made) }, () => 'd')
    mkdirSync(join(above, ...piece.slice(1)), { recursive: true })
    renameSync(top, join(above, ...piece))
    top = above
  }
  mkdirSync(join(top, 'last'))
  renameSync(top, join(root, 'deep'))
}
