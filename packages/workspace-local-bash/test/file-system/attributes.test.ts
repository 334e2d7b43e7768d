import { mkdirSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { restoreSnapshot, takeSnapshot } from '@helix-agents/core/provider'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TestHost } from '../open-workspace.ts'
import { turnsDuring } from '../slow-machine.ts'

let host: TestHost
beforeEach(() => void (host = new TestHost()))
afterEach(() => host.dispose())

it('modes and links survive a portable snapshot', async () => {
  const [source, target] = [(await host.open()).ws, (await host.open()).ws]
  mkdirSync(join(source.shellRoot, 'd'), { mode: 0o750 })
  writeFileSync(join(source.shellRoot, 'd/run.sh'), '', { mode: 0o755 })
  symlinkSync('d/run.sh', join(source.shellRoot, 'run'))
  const store = new DirectorySnapshotStore({ directory: join(host.tmpdirRoot, 'store') })
  const session = { sessionId: 's', agentType: 'a' }
  const identity = { scope: 's', session, workspace: 'w', workspaceId: 'i', providerId: 'p' }
  const { manifest, losses } = await takeSnapshot(source.fs, store, identity)
  const receipt = await restoreSnapshot(manifest, store, target.fs, { scope: 's' })
  expect([losses, receipt.losses]).toEqual([[], []])
  expect(statSync(join(target.shellRoot, 'd')).mode & 0o777).toBe(0o750)
  expect(statSync(join(target.shellRoot, 'd/run.sh')).mode & 0o777).toBe(0o755)
  expect(readlinkSync(join(target.shellRoot, 'run'))).toBe('d/run.sh')
  const again = await takeSnapshot(target.fs, store, identity)
  expect(again.manifest.header.digest).toBe(manifest.header.digest)
  const native = await source.snapshot.snapshot()
  expect(native.ref).toMatchObject({ digest: manifest.header.digest })
})

it('no link leads a change of modes out, and none is made in the place of a file', async () => {
  const { ws } = await host.open()
  const outside = join(host.tmpdirRoot, 'outside')
  writeFileSync(outside, '', { mode: 0o600 })
  symlinkSync(outside, join(ws.shellRoot, 'out'))
  symlinkSync(host.tmpdirRoot, join(ws.shellRoot, 'up'))
  const { attributes } = ws.fs
  await expect(attributes.writeModes?.([{ path: '/out', mode: 0o777 }])).rejects.toMatchObject({
    code: 'path-escape',
  })
  await expect(
    attributes.writeModes?.([{ path: '/up/outside', mode: 0o777 }]),
  ).rejects.toMatchObject({
    code: 'path-escape',
  })
  await expect(attributes.makeLink?.('/out', 'x')).rejects.toMatchObject({ code: 'already-exists' })
  await expect(attributes.makeLink?.('/up/new', 'x')).rejects.toMatchObject({ code: 'path-escape' })
  await expect(attributes.readMode?.('/none')).rejects.toMatchObject({ code: 'not-found' })
  expect(statSync(outside).mode & 0o777).toBe(0o600)
})

it('other work has its turns while modes are set', async () => {
  const { ws } = await host.open()
  const modes = Array.from({ length: 20 }, (_, n) => ({ path: `/f${n}`, mode: 0o640 }))
  for (const { path } of modes) writeFileSync(ws.shellRoot + path, '')
  const turns = await turnsDuring(async () => ws.fs.attributes.writeModes?.(modes))
  expect(turns).toBeGreaterThanOrEqual(20)
})
