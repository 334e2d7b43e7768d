// The same bounds as on the double, with the real scripts, SDK and container behind the provider,
// whose own work is done in this process.
import { lchown, lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { noopLogger, systemClock } from '@helix-agents/core'
import {
  codeConfigSchema,
  fileSystemConfigSchema,
  shellConfigSchema,
  snapshotConfigSchema,
  type Workspace,
} from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import type { SandboxTestbed } from '@helix-agents/sandbox-testbed'
import {
  CloudflareSandboxWorkspaceProvider,
  createSdkDriver,
} from '@helix-agents/workspace-cloudflare-sandbox'
import {
  type BoundFiles,
  type BoundRow,
  boundBehaviours,
  createNodeWorkHost,
  defineBounds,
  renderBoundTable,
} from '@helix-agents/workspace-conformance/bounds'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { startDriverTestbed } from '../driver/worker/drive.ts'
import { availability, skipNote } from './bench.ts'
import { hostStub } from './host-stub.ts'

/** Behaviours that a sample takes. */
const SAMPLED = 4
const SANDBOX = 'bounds'
const SESSION = { sessionId: 'bounds', agentType: 'kit' }

const sampler = new TestSampler()
const rows: BoundRow[] = []
const ids = boundBehaviours.map(({ id }) => id)

interface Owner {
  readonly uid: number
  readonly gid: number
}

async function giveTo({ uid, gid }: Owner, first: string, last: string): Promise<void> {
  for (let at = last; at.length >= first.length; at = dirname(at)) await lchown(at, uid, gid)
}

/** Writes into the disk of the container from outside, as the user that owns it. */
async function filesIn(root: string): Promise<BoundFiles> {
  const { uid, gid } = await lstat(root)
  return {
    writeFile: async (path, data) => {
      const file = join(root, path)
      const first = await mkdir(dirname(file), { recursive: true })
      if (first !== undefined) await giveTo({ uid, gid }, first, dirname(file))
      await writeFile(file, data)
      await lchown(file, uid, gid)
      const { size, mtime } = await lstat(file)
      return { path, type: 'file', size, mtime, version: '' }
    },
  }
}

function toBase64(this: Uint8Array): string {
  return Buffer.from(this.buffer, this.byteOffset, this.byteLength).toString('base64')
}

const fromBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'))

/**
 * workerd does it natively, and this process does not: what takes its time is not the provider.
 * @returns takes it back.
 */
function encodeAsWorkers(): () => void {
  Object.assign(Uint8Array.prototype, { toBase64 })
  Object.assign(Uint8Array, { fromBase64 })
  return () => {
    Reflect.deleteProperty(Uint8Array.prototype, 'toBase64')
    Reflect.deleteProperty(Uint8Array, 'fromBase64')
  }
}

describe.skipIf(!availability.available)(`on the test bed${skipNote}`, () => {
  let testbed: SandboxTestbed
  let encodeAsNode: (() => void) | undefined
  beforeAll(async () => {
    encodeAsNode = encodeAsWorkers()
    testbed = await startDriverTestbed()
  }, 120_000)
  afterAll(async () => {
    encodeAsNode?.()
    process.stdout.write(`${renderBoundTable(rows)}\n`)
    await testbed?.stop()
  }, 120_000)

  const provider = new CloudflareSandboxWorkspaceProvider({
    driver: (settings) =>
      createSdkDriver({ source: { connect: (id) => hostStub(testbed, id) } })(settings),
    localBuckets: true,
  })
  const open = async (): Promise<Workspace> => {
    const config = {
      kind: 'cloudflare-sandbox',
      id: SANDBOX,
      shareAcrossSessions: true,
      backupR2Binding: 'BACKUP_BUCKET',
    } as const
    const { ws } = await provider.open(config, SESSION, {
      workspace: 'box',
      capabilities: {
        fs: fileSystemConfigSchema.parse({}),
        shell: shellConfigSchema.parse({}),
        code: codeConfigSchema.parse({}),
        snapshot: snapshotConfigSchema.parse({}),
      },
      signal: new AbortController().signal,
      logger: noopLogger,
      clock: systemClock,
    })
    return ws
  }

  defineBounds(
    { it, fails: it.fails },
    {
      capabilities: { fs: true, shell: true, code: true, snapshot: true, branch: true },
      extras: ['background', 'stateful-code', 'stored-output', 'progress'],
      whole: sampler.isExhaustive,
      only: sampler.pick('bounds on the test bed', ids, SAMPLED),
      create: async () => {
        const workspace = await open()
        const root = join((await testbed.sandbox(SANDBOX))?.root ?? '', 'workspace')
        for (const name of await readdir(root)) await rm(join(root, name), { recursive: true })
        return {
          provider: provider.providerId,
          workspace,
          capabilities: provider.capabilities,
          host: createNodeWorkHost(process),
          files: await filesIn(root),
          report: (row) => void rows.push(row),
          dispose: () => workspace.detach?.() ?? workspace.close(),
        }
      },
    },
  )
})
