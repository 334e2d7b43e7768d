// In which order a workspace ends its parts, and what becomes of its directory.
import { existsSync, readdirSync, renameSync, symlinkSync } from 'node:fs'
import { logMessages } from '@helix-agents/core/provider'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { LocalBashWorkspace } from '@helix-agents/workspace-local-bash/parts'
import { beforeEach, describe, expect, it } from 'vitest'
import type { LocalBashWorkspaceParts } from '../src/local-bash-workspace.ts'
import { detachedMarker, ownMarker, readOwner, writeOwner } from '../src/owner.ts'
import {
  createDirectory,
  restoreDirectory,
  type WorkspaceDirectory,
} from '../src/workspace-directory.ts'
import { useDirectory } from './snapshots/store/store-fixture.ts'

const base = useDirectory()
const marker = ownMarker({ env: {}, sinceMs: 1, session: 's' })
let calls: string[]
let directory: WorkspaceDirectory
let logger: RecordingLogger
beforeEach(() => {
  ;[calls, logger] = [[], new RecordingLogger()]
  directory = createDirectory(base())
  restoreDirectory(directory)
  writeOwner(directory.path, marker)
})

/** Notes that something has ended, which takes it a while. */
const end = (name: string) => async (): Promise<void> => {
  await new Promise((resolve) => setImmediate(resolve))
  calls.push(`${name}${existsSync(directory.path) ? '' : ', the directory is gone'}`)
}
function open(more: Partial<LocalBashWorkspaceParts> = {}): LocalBashWorkspace {
  return new LocalBashWorkspace({
    directory,
    marker,
    isolation: 'none',
    containment: 'scan',
    maxProcesses: undefined,
    shellRoot: '/shell',
    fs: { release: () => calls.push('fs') } as unknown as LocalBashWorkspaceParts['fs'],
    shell: { close: end('shell') } as unknown as LocalBashWorkspaceParts['shell'],
    snapshot: {} as LocalBashWorkspaceParts['snapshot'],
    release: end('release'),
    clock: new ManualClock(70),
    logger,
    ...more,
  })
}
const code = { close: end('code') } as unknown as NonNullable<LocalBashWorkspaceParts['code']>

it('a workspace shows what it is made of', () => {
  const plain = open()
  expect(plain).toMatchObject({
    id: directory.name,
    isolation: 'none',
    containment: 'scan',
    shellRoot: '/shell',
  })
  expect(['code' in plain && plain.code, plain.maxProcesses]).toEqual([undefined, undefined])
  const full = open({ code, maxProcesses: 301 })
  expect([full.code, full.maxProcesses]).toEqual([code, 301])
  const parts = [full.fs, full.shell, full.snapshot].map((part) => Object.keys(part))
  expect(parts).toEqual([['release'], ['close'], []])
})

describe('a workspace that is closed', () => {
  it('ends code, commands and files, then goes, then its snapshots', async () => {
    const ws = open({ code })
    await ws.close()
    expect(calls).toEqual(['code', 'shell', 'fs', 'release, the directory is gone'])
    await ws.detach()
    expect([readdirSync(base()), logger.lines]).toEqual([[], []])
    await ws.close()
    expect(calls.slice(4)).toEqual(['release, the directory is gone'])
  })
  it('logs what it cannot free, and throws nothing', async () => {
    const error = new Error('no store')
    const release = async (): Promise<never> => {
      throw error
    }
    await open({ release }).close()
    expect(logger.lines).toEqual([
      {
        level: 'error',
        message: logMessages.tmpdirCloseFailed,
        fields: { err: error, path: directory.path, holders: [] },
      },
    ])
  })
})

describe('a workspace that is detached', () => {
  it('stays, without an owner, and is detached once', async () => {
    const ws = open({ code })
    await Promise.all([ws.detach(), ws.detach()])
    expect(calls).toEqual(['code', 'shell', 'fs'])
    expect(readOwner(directory.path)).toEqual(detachedMarker(marker, 70))
    await ws.close()
    expect(calls.slice(3)).toEqual(['release, the directory is gone'])
  })
  it('has its owner until its commands have ended', async () => {
    const seen: unknown[] = []
    const shell = {
      close: async () => {
        await new Promise((resolve) => setImmediate(resolve))
        seen.push(readOwner(directory.path))
      },
    } as unknown as LocalBashWorkspaceParts['shell']
    await open({ shell }).detach()
    expect(seen).toEqual([marker])
  })
  it('is not touched when it is of another owner by now, gone, or a link', async () => {
    const other = { ...marker, process: { pid: 1, startTime: 1, bootId: 'x' } }
    writeOwner(directory.path, other)
    await open().detach()
    expect(readOwner(directory.path)).toEqual(other)
    writeOwner(directory.path, marker)
    renameSync(directory.path, `${directory.path}x`)
    await open().detach()
    expect(readdirSync(base())).toEqual([`${directory.name}x`])
    symlinkSync(`${directory.path}x`, directory.path)
    await open().detach()
    expect(readOwner(`${directory.path}x`)).toEqual(marker)
  })
})
