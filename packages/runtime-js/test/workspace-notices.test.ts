// What the model is told of files that are gone.
import { defineAgent, defineTool } from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { calls, createHarness, type Harness, say, storedMessages, textOfResult } from './harness.ts'

const NOTICE = 'its earlier files and processes are gone'
const read = calls(['workspace__box__read_file', { path: '/a' }])
const write = calls(['workspace__box__write_file', { path: '/a', content: 'x' }])
const ls = calls(['workspace__box__ls', {}])

const workspaces = { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } }
const agent = defineAgent({ name: 'a', llmConfig: { model: {} }, workspaces })
const options = () => ({
  workspaceProviders: new Map<string, WorkspaceProvider>([
    ['in-memory', new InMemoryWorkspaceProvider()],
  ]),
})

async function turn({ executor }: Harness, sessionId = 's', keepWorkspaces = false) {
  await (await executor.execute(agent, 'go', { sessionId, keepWorkspaces })).result()
}

async function results(harness: Harness, sessionId = 's'): Promise<string[]> {
  const messages = await storedMessages(harness, sessionId)
  return messages.filter(({ role }) => role === 'tool').map(textOfResult)
}

const told = (texts: readonly string[]): boolean[] => texts.map((text) => text.includes(NOTICE))

test('the next turn after an end is told once, by a call that fails as well', async () => {
  const harness = createHarness([write, say('1'), read, ls, say('2'), say('3')], options())
  await turn(harness)
  await turn(harness)
  const texts = await results(harness)
  expect(told(texts)).toEqual([false, true, false])
  expect(texts[1]).toContain('[not-found]')
})

test('and so is every later turn that starts afresh, in another process too', async () => {
  const harness = createHarness([write, say('1')], options())
  await turn(harness)
  const next = harness.next([ls, say('2'), ls, say('3')])
  await turn(next)
  await turn(next)
  expect(told(await results(harness))).toEqual([false, true, true])
})

test('nothing is said when the files are there, or there were none', async () => {
  const kept = createHarness([write, say('1'), read, say('2')], options())
  await turn(kept, 's', true)
  await turn(kept)
  expect(told(await results(kept))).toEqual([false, false])

  const late = createHarness([say('1'), ls, say('2')], options())
  await turn(late)
  await turn(late)
  expect(told(await results(late))).toEqual([false])
})

test('a branch without the files of its source is told', async () => {
  const harness = createHarness([write, say('1'), read, say('2')], options())
  await turn(harness)
  await harness.executor.branch(agent, { fromSessionId: 's', sessionId: 'b' })
  await turn(harness, 'b')
  const texts = await results(harness, 'b')
  // They are where they were.
  expect(told(texts)).toEqual([false, false])
  expect(texts[1]).toContain('is a new one of this branch')
  expect(texts[1]).toContain('with the session that this one was branched from')
})

test('a branch is told of its own files as every session is', async () => {
  const steps = [write, say('1'), say('2'), read, ls, say('3'), ls, say('4')]
  const harness = createHarness(steps, options())
  await turn(harness)
  await harness.executor.branch(agent, { fromSessionId: 's', sessionId: 'b' })
  // Its first turn uses no workspace, its second one does and ends it.
  for (let count = 0; count < 3; count++) await turn(harness, 'b')
  const texts = await results(harness, 'b')
  expect(texts.map((text) => text.includes('new one of this branch'))).toEqual([
    false,
    true,
    false,
    false,
  ])
  expect(told(texts)).toEqual([false, false, false, true])
})

test('what was read of the earlier files counts no more', async () => {
  const strict = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    tools: [
      defineTool({
        name: 'seed',
        description: '',
        inputSchema: z.object({}),
        execute: (_, { workspaces: access }) =>
          access.use('box', async ({ live }) => void (await live.fs?.writeFile('/a', 'seed')), {
            idempotent: true,
          }),
      }),
    ],
    workspaces: {
      box: { ...workspaces.box, capabilities: { fs: { requireReadBeforeWrite: true } } },
    },
  })
  const harness = createHarness([write, say('1'), calls(['seed']), write, say('2')], options())
  const ends = { sessionId: 's', keepWorkspaces: false }
  for (const message of ['one', 'two']) {
    await (await harness.executor.execute(strict, message, ends)).result()
  }
  const last = (await results(harness)).at(-1)
  expect(last).toContain(NOTICE)
  expect(last).toContain('must be read before')
})

test('a failed run keeps its files, and resuming it finds them', async () => {
  const harness = createHarness(
    [write, { type: 'error', error: 'overloaded', shouldStop: true }],
    options(),
  )
  const failed = await (await harness.executor.execute(agent, 'go', { sessionId: 's' })).result()
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'model-failed' } })
  const next = harness.next([read, say('done')])
  await (await next.executor.resume(agent, 's')).result()
  const texts = await results(harness)
  expect(texts[1]).toContain('1→x')
  expect(told(texts)).toEqual([false, false])
})
