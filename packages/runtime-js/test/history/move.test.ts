import { defineAgent, WorkspaceFailedError } from '@helix-agents/core'
import { loadBranchSeed } from '@helix-agents/runtime-js'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import { calls, createHarness, say, settle, storedMessages, textOfResult } from '../harness.ts'

const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: {
    box: { provider: { kind: 'in-memory' }, capabilities: { fs: true }, history: 'step' },
  },
})
const read = calls(['workspace__box__read_file', { path: '/d/a' }])
const write = (content: string) => calls(['workspace__box__write_file', { path: '/d/a', content }])

const rename = <T extends { providerId: string }>(ref: T, providerId: string): T => ({
  ...ref,
  providerId,
})

/** The same provider under another kind. */
function otherKind(): InMemoryWorkspaceProvider {
  const real = new InMemoryWorkspaceProvider()
  const kind = 'elsewhere'
  const own = 'in-memory'
  const history = {
    restore: async (ref: never, options: never) =>
      rename(await real.history.restore(rename(ref, own), options), kind),
    remove: (ref: never) => real.history.remove(rename(ref, own)),
    list: async (id: string) => {
      const { snapshots, workspaces } = await real.history.list(id)
      return {
        snapshots: snapshots.map((one) => rename(one, kind)),
        workspaces: workspaces.map((one) => rename(one, kind)),
      }
    },
  }
  const withOwnSnapshots = (opened: Awaited<ReturnType<typeof real.open>>) => {
    const { snapshot } = opened.ws
    const take = snapshot!.snapshot.bind(snapshot)
    snapshot!.snapshot = async (options) => rename(await take(options), kind)
    return { ...opened, ref: rename(opened.ref, kind) }
  }
  return Object.assign(Object.create(real), {
    providerId: kind,
    capabilities: real.capabilities,
    parseConfig: (config: object) => real.parseConfig({ ...config, kind: own }),
    open: async (_: never, session: never, options: never) =>
      withOwnSnapshots(await real.open({ kind: own }, session, options)),
    resolve: async (ref: never, options: never) =>
      withOwnSnapshots(await real.resolve(rename(ref, own), options)),
    release: (ref: never) => real.release(rename(ref, own)),
    history,
  })
}

async function played() {
  const here = new InMemoryWorkspaceProvider()
  const there = otherKind()
  const harness = createHarness([write('1'), write('2'), say('end')], {
    workspaceProviders: [here, there],
  })
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const ids = (await harness.store.listCheckpoints('s')).items.toReversed().map(({ id }) => id)
  return { harness, here, there, ids }
}

test('a moved workspace has its files there, tells the model once, and stays there', async () => {
  const { harness, there, ids } = await played()
  const report = await harness.executor.moveWorkspace(agent, 's', 'box', {
    to: { kind: 'elsewhere' },
  })
  expect(report).toMatchObject({ files: 1, bytes: 1, losses: [] })
  const session = await harness.store.loadSession('s')
  expect(session).toMatchObject({
    status: 'completed',
    workspaceRefs: { box: { providerId: 'elsewhere', moved: { provider: { kind: 'elsewhere' } } } },
  })
  const texts: string[] = []
  for (const steps of [
    [read, write('3'), say('a')],
    [read, say('b')],
  ]) {
    const next = harness.next(steps)
    await (await next.executor.execute(agent, 'go', { sessionId: 's' })).result()
  }
  for (const message of await storedMessages(harness)) {
    if (message.role === 'tool') texts.push(textOfResult(message))
  }
  expect(texts.filter((text) => text.includes('was moved to another place'))).toHaveLength(1)
  expect(texts.at(-1)).toContain('3')
  // Its history goes on there, and that of the old place can still be restored.
  expect((await there.history.list('s')).snapshots).toHaveLength(2)
  const newest = (await harness.store.listCheckpoints('s')).items
  await harness.executor.restoreCheckpoint(agent, 's', newest[0]!.id, { files: true })
  expect((await harness.store.loadSession('s'))!.workspaceRefs['box']!.providerId).toBe('elsewhere')
  await harness.executor.restoreCheckpoint(agent, 's', ids[0]!, { files: true })
  expect((await harness.store.loadSession('s'))!.workspaceRefs['box']!.providerId).toBe('in-memory')
  const last = harness.next([read, say('c')])
  await (await last.executor.execute(agent, 'go', { sessionId: 's' })).result()
  expect(
    textOfResult((await storedMessages(last)).findLast(({ role }) => role === 'tool')),
  ).toContain('1')
  await harness.executor.deleteSession(agent, 's')
  expect(await there.history.list('s')).toEqual({ snapshots: [], workspaces: [] })
})

test('nothing moves when the new place lacks what the agent declares, or is not there', async () => {
  const { harness, there } = await played()
  const { executor } = harness
  await expect(
    executor.moveWorkspace(agent, 's', 'box', { to: { kind: 'nowhere' } }),
  ).rejects.toMatchObject({ code: 'config-invalid' })
  Object.assign(there, { capabilities: { fs: true } })
  await expect(
    executor.moveWorkspace(agent, 's', 'box', { to: { kind: 'elsewhere' } }),
  ).rejects.toMatchObject({ code: 'capability-missing' })
  expect((await there.history.list('s')).workspaces).toEqual([])
})

test('a copy that is not the same is thrown away', async () => {
  const { harness, there } = await played()
  const open = there.open.bind(there)
  there.open = async (...given) => {
    const opened = await open(...given)
    const { fs } = opened.ws
    const writeFile = fs!.writeFile.bind(fs)
    fs!.writeFile = (path, _, options) => writeFile(path, 'other', options)
    return opened
  }
  const moving = harness.executor.moveWorkspace(agent, 's', 'box', { to: { kind: 'elsewhere' } })
  await expect(moving).rejects.toMatchObject({ code: 'provider-failed' })
  expect((await there.history.list('s')).workspaces).toEqual([])
  expect(await harness.store.loadSession('s')).toMatchObject({
    status: 'completed',
    workspaceRefs: { box: { providerId: 'in-memory' } },
  })
})

test('a session of another store comes with its files, told once; what cannot be filled makes none', async () => {
  const { harness, ids } = await played()
  const seed = await loadBranchSeed({ stateStore: harness.store }, agent, {
    fromSessionId: 's',
    checkpointId: ids[0]!,
  })
  const away = createHarness([read, say('there')], {
    workspaceProviders: [new InMemoryWorkspaceProvider()],
  })
  const { executor, store } = away
  const report = await harness.executor.readFiles(
    agent,
    's',
    { checkpointId: ids[0]! },
    async (files) => {
      const given = { sessionId: 'new', seed, files: { box: files } }
      const other = { ...given, files: { ...given.files, toolbox: files } }
      await expect(executor.importSession(agent, other)).rejects.toMatchObject({
        code: 'config-invalid',
      })
      expect(await store.loadSession('new')).toBeNull()
      const [made] = Object.values(await executor.importSession(agent, given))
      await expect(executor.importSession(agent, given)).rejects.toMatchObject({ code: 'conflict' })
      return { digest: files.manifest.header.digest, made }
    },
  )
  expect(report.made).toMatchObject({ digest: report.digest, files: 1, losses: [] })
  await (await executor.execute(agent, 'go on', { sessionId: 'new' })).result()
  const result = (await store.loadMessages('new')).messages.findLast(({ role }) => role === 'tool')
  expect(textOfResult(result)).toContain('1')
  expect(textOfResult(result)).toContain('was copied from another session')
})

test('a copy that the session could not open again is thrown away', async () => {
  const { harness, there } = await played()
  there.resolve = async () => {
    throw new WorkspaceFailedError('ref-invalid', 'the stored ref names another one')
  }
  const moving = harness.executor.moveWorkspace(agent, 's', 'box', { to: { kind: 'elsewhere' } })
  await expect(moving).rejects.toMatchObject({ code: 'ref-invalid' })
  expect((await there.history.list('s')).workspaces).toEqual([])
  const { workspaceRefs } = (await harness.store.loadSession('s'))!
  expect(workspaceRefs['box']!.providerId).toBe('in-memory')
})

test('a backend is made, and thrown away, under a name of its own that says whose it is', async () => {
  const { harness, there } = await played()
  const [open, release] = [there.open.bind(there), there.release.bind(there)]
  const names: unknown[] = []
  there.open = async (...given) => {
    const opened = await open(...given)
    const { session, ...options } = { session: given[1].sessionId, ...given[2] }
    names.push([options.workspace, options.resolvedAs, session])
    const { fs } = opened.ws
    const writeFile = fs!.writeFile.bind(fs)
    fs!.writeFile = async (path, content, more) => {
      await writeFile(`${path}-2`, content, more)
      return writeFile(path, 'other', more)
    }
    return opened
  }
  Reflect.set(there, 'release', (...given: [never, Record<string, { sessionId: string }>]) => {
    const { workspace, resolvedAs, session } = given[1]
    names.push([workspace, resolvedAs, session!.sessionId])
    return release(given[0])
  })
  const moving = harness.executor.moveWorkspace(agent, 's', 'box', { to: { kind: 'elsewhere' } })
  await expect(moving).rejects.toThrow('and 1 more differ')
  const [made] = names as string[][]
  const [own] = made!
  expect(own).toMatch(/^box-[0-9a-f]{8}$/)
  expect(names).toEqual([
    [own, 'box', 's'],
    [own, 'box', 's'],
  ])
})

test('a ledger of backends hears that one which was moved waits for its session', async () => {
  const { harness } = await played()
  const events: unknown[] = []
  const note = ({ providerId, workspace }: { providerId: string; workspace: string }) =>
    void events.push([providerId, workspace])
  const lifecycle = {
    onOpen: note,
    onClose: ({ mode }: { mode: string }) => void events.push(mode),
  }
  const { executor } = harness.next([], { lifecycle })
  await executor.moveWorkspace(agent, 's', 'box', { to: { kind: 'elsewhere' } })
  expect(events).toEqual([['elsewhere', 'box'], 'detach'])
})

test('a copy that was made to read from is let go before it is ended', async () => {
  const { harness, here, ids } = await played()
  const events: string[] = []
  const [resolve, release] = [here.resolve.bind(here), here.release.bind(here)]
  here.resolve = async (...given) => {
    const opened = await resolve(...given)
    const detach = opened.ws.detach?.bind(opened.ws)
    opened.ws.detach = async () => {
      await settle()
      events.push('let go')
      await detach?.()
    }
    return opened
  }
  here.release = async (...given) => {
    events.push('ended')
    await release(...given)
  }
  const [checkpointId] = ids as [string]
  await harness.executor.readFiles(agent, 's', { checkpointId }, async () => {
    events.push('read')
  })
  expect(events.slice(-3)).toEqual(['read', 'let go', 'ended'])
})
