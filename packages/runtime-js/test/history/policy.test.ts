// A model that tries to get around the policy of its files with snapshots.
import { defineAgent, type Message, type MockStep } from '@helix-agents/core'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import { calls, createHarness, say, storedMessages, textOfResult } from '../harness.ts'

const KEY = 'the key of another'
const box = (name: string, args?: unknown): ReturnType<typeof calls> =>
  calls([`workspace__box__${name}`, args])

const agentWith = (fs: { readonly readOnly?: true } | { readonly hides: string }) =>
  defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    workspaces: {
      box: {
        provider: { kind: 'in-memory' },
        capabilities: {
          fs: 'hides' in fs ? { pathRules: [{ pattern: fs.hides, access: 'none' }] } : fs,
          snapshot: true,
        },
      },
    },
  })

/** The JSON of the last snapshot of the conversation. */
function refIn(messages: readonly Message[]): string {
  const taken = messages.map(textOfResult).findLast((text) => text.includes('ref: {')) ?? ''
  return taken.slice(taken.indexOf('ref: ') + 'ref: '.length)
}

const restoreTaken: MockStep = ({ messages }) =>
  box('restore', { ref: JSON.parse(refIn(messages)) as unknown })

/** The files of an agent without rules, then the steps of one with them, in the same session. */
async function played(agent: ReturnType<typeof agentWith>, steps: readonly MockStep[]) {
  const workspaceProviders = [new InMemoryWorkspaceProvider()]
  const before = [
    box('write_file', { path: '/secrets/key', content: KEY }),
    box('write_file', { path: '/open', content: 'anyone' }),
    say('made'),
  ]
  const first = createHarness(before, { workspaceProviders })
  await (await first.executor.execute(agentWith({}), 'make them', { sessionId: 's' })).result()
  const next = first.next([...steps, say('end')])
  const result = await (await next.executor.execute(agent, 'go on', { sessionId: 's' })).result()
  expect(result.status).toBe('completed')
  const messages = await storedMessages(next)
  const begin = messages.findIndex(({ content }) => content === 'go on')
  return messages
    .slice(begin)
    .filter(({ role }) => role === 'tool')
    .map(textOfResult)
}

test('what path rules hide stays hidden in a restored workspace', async () => {
  const looks = [
    box('read_file', { path: '/secrets/key' }),
    box('ls', { path: '/' }),
    box('grep', { pattern: 'key' }),
    box('glob', { pattern: '**/*' }),
  ]
  const texts = await played(agentWith({ hides: '/secrets' }), [
    box('snapshot'),
    restoreTaken,
    ...looks,
  ])
  expect(texts).toHaveLength(6)
  expect(texts[1]).toContain('[restored')
  expect(texts[2]).toContain('[path-denied]')
  expect(texts[3]).toContain('open')
  expect(texts.join('\n')).not.toContain(KEY)
  expect(texts.slice(3).join('\n')).not.toContain('secrets')
})

test('a read-only workspace stays read-only in what a snapshot brings back', async () => {
  const texts = await played(agentWith({ readOnly: true }), [
    box('snapshot'),
    restoreTaken,
    box('read_file', { path: '/open' }),
    box('write_file', { path: '/open', content: 'mine' }),
    box('read_file', { path: '/open' }),
  ])
  expect(texts[1]).toContain('[restored')
  expect(texts[3]).toContain('[read-only]')
  expect(texts[4]).toContain('anyone')
})

test('a ref that the model forges reaches no other workspace', async () => {
  const forged: MockStep = ({ messages }) => {
    const taken = refIn(messages)
    return box('restore', {
      ref: JSON.parse(taken.replace(/[0-9a-f]{32}/, '0'.repeat(32))) as unknown,
    })
  }
  const texts = await played(agentWith({ hides: '/secrets' }), [
    box('snapshot'),
    forged,
    box('restore', { ref: { providerId: 'local-bash', snapshot: { path: '/etc' } } }),
    box('read_file', { path: '/open' }),
  ])
  expect(texts[1]).toContain('Error [')
  expect(texts[2]).toContain('Error [')
  expect(texts[3]).toContain('anyone')
})
