import { systemClock } from '@helix-agents/core'
import {
  fileSystemConfigSchema,
  type OpenOptions,
  type ResolveOptions,
} from '@helix-agents/core/provider'
import type { Capabilities } from '@helix-agents/core/runtime'
import { RecordingLogger } from '@helix-agents/core/testing'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'

const session = { sessionId: 'session-1', agentType: 'test' }
const config = { kind: 'in-memory' } as const

function options(capabilities: Capabilities = {}): OpenOptions & ResolveOptions {
  return {
    workspace: 'box',
    session,
    capabilities,
    signal: new AbortController().signal,
    logger: new RecordingLogger(),
    clock: systemClock,
  }
}

test('ids are counted, and random unless they are to be deterministic', async () => {
  const fixed = new InMemoryWorkspaceProvider({ deterministicIds: true })
  const ids = [
    await fixed.open(config, session, options()),
    await fixed.open(config, session, options()),
  ]
  expect(ids.map(({ ws }) => ws.id)).toEqual(['inmem-1', 'inmem-2'])
  const random = await new InMemoryWorkspaceProvider().open(config, session, options())
  expect(random.ws.id).toMatch(/^inmem-1-[0-9a-f]{12}$/)
})

test('a ref holds the id and nothing else', async () => {
  const provider = new InMemoryWorkspaceProvider({ deterministicIds: true })
  const { ref } = await provider.open(config, session, options())
  expect(ref).toEqual({
    providerId: 'in-memory',
    schemaVersion: 1,
    capabilities: { fs: true, snapshot: true, branch: true },
    ref: { id: 'inmem-1' },
  })
})

test('the smaller of both total limits holds', async () => {
  const provider = new InMemoryWorkspaceProvider({ maxTotalMb: 1 })
  const { ws } = await provider.open({ kind: 'in-memory', maxTotalMb: 2 }, session, options())
  await expect(ws.fs?.writeFile('/a', new Uint8Array(1024 * 1024))).resolves.toBeDefined()
  await expect(ws.fs?.writeFile('/b', 'x')).rejects.toMatchObject({ code: 'storage-full' })
})

test('the file limit of the policy holds after a resolve too', async () => {
  const provider = new InMemoryWorkspaceProvider()
  const policy = { fs: fileSystemConfigSchema.parse({ maxFileSizeMb: 1 }) }
  const { ref } = await provider.open(config, session, options(policy))
  const { ws } = await provider.resolve(ref, options(policy))
  const large = new Uint8Array(1024 * 1024 + 1)
  await expect(ws.fs?.writeFile('/a', large)).rejects.toMatchObject({ code: 'too-large' })
})

test('a version of one workspace never looks current in another', async () => {
  const provider = new InMemoryWorkspaceProvider()
  const first = await provider.open(config, session, options())
  const second = await provider.open(config, session, options())
  const stat = await first.ws.fs?.writeFile('/a', 'x')
  expect((await second.ws.fs?.writeFile('/a', 'y'))?.version).not.toBe(stat?.version)
})

test('opens over the bound wait for their turn', async () => {
  const provider = new InMemoryWorkspaceProvider({
    deterministicIds: true,
    maxGlobalConcurrentOpens: 1,
  })
  const opens = ['a', 'b', 'c'].map(() => provider.open(config, session, options()))
  const ids = (await Promise.all(opens)).map(({ ws }) => ws.id)
  expect(ids).toEqual(['inmem-1', 'inmem-2', 'inmem-3'])
})

test('a bound that is no positive number is refused at once', () => {
  expect(() => new InMemoryWorkspaceProvider({ maxGlobalConcurrentOpens: 0 })).toThrow(
    expect.objectContaining({ code: 'config-invalid' }),
  )
})

test('open and close are logged with the id', async () => {
  const logger = new RecordingLogger()
  const provider = new InMemoryWorkspaceProvider({ logger, deterministicIds: true })
  const { ws } = await provider.open(config, session, options())
  await ws.close()
  await ws.close()
  expect(logger.lines.map(({ message, fields }) => [message, fields.id])).toEqual([
    ['in-memory workspace opened', 'inmem-1'],
    ['in-memory workspace closed', 'inmem-1'],
  ])
})
