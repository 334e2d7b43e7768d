// Which workspaces a session has used before a run, and whether that was the session it is a branch of.
import { defineAgent, type Message } from '@helix-agents/core'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import { ToolSets } from '../../src/call/tool-sets.ts'
import { usageBefore } from '../../src/session/usage-before.ts'

const provider = new InMemoryWorkspaceProvider()
const memory = { provider: { kind: provider.providerId }, capabilities: { fs: true } } as const
const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: { box: memory, notes: memory },
})
const toolSet = new ToolSets(new Map([[provider.providerId, provider]])).of(agent)

const user: Message = { role: 'user', content: 'Go' }
const answer: Message = { role: 'assistant', content: 'done' }
const read = 'workspace__box__read_file'
const ask: Message = {
  role: 'assistant',
  content: '',
  toolCalls: [{ id: 'a', name: read, arguments: {} }],
}
const use = (toolName = read, isError = false): Message => ({
  role: 'tool',
  toolCallId: 'a',
  toolName,
  content: 'x',
  ...(isError && { isError: true as const }),
})

const used = (messages: readonly Message[], stepCount: number, fileLedgers: object = {}) =>
  usageBefore({ session: { stepCount, fileLedgers: fileLedgers as never }, toolSet, messages })(
    'box',
  )

test('a result of one of its tools is a use; an error and a result of others are none', () => {
  expect(used([], 0)).toBe(false)
  expect(used([user, ask, use(), answer], 2)).toBe(true)
  expect(used([user, ask, use(read, true), answer], 2)).toBe(false)
  expect(used([user, ask, use('workspace__notes__read_file'), answer], 2)).toBe(false)
  expect(used([user, ask, use('unknown'), answer], 2)).toBe(false)
})

test('so are files that the session knew of, whatever became of the conversation', () => {
  expect(used([], 0, { box: {} })).toBe(true)
  expect(used([user, ask, use(), answer], 0, { box: {} })).toBe(true)
  expect(used([], 0, { notes: {}, constructor: {} })).toBe(false)
})

test('what a run adds to the conversation is not from before it', () => {
  const messages: Message[] = [user]
  const isUsed = usageBefore({ session: { stepCount: 0, fileLedgers: {} }, toolSet, messages })
  messages.push(ask, use())
  expect(isUsed('box')).toBe(false)
})

test.each<readonly [string, readonly Message[], number, boolean | 'in-source']>([
  ['a session that is no branch', [user, ask, use(), answer], 2, true],
  ['one whose last step was cut off', [user, ask, use(), ask], 1, true],
  ['a branch that has not run', [user, ask, use()], 0, 'in-source'],
  ['a branch that has not run and ends with an answer', [user, ask, use(), answer], 0, 'in-source'],
  ['a branch that has run without it', [user, ask, use(), user, answer], 1, 'in-source'],
  ['a branch whose first step has used it', [user, answer, user, ask, use()], 1, true],
  ['a branch that has used it as well', [user, ask, use(), user, ask, use(), answer], 2, true],
  ['a branch whose first step was cut off', [user, ask, use(), user, ask], 0, 'in-source'],
  [
    'a branch whose first step was cut off after a use',
    [
      user,
      answer,
      user,
      { ...ask, toolCalls: [...ask.toolCalls!, { id: 'b', name: read, arguments: {} }] },
      use(),
    ],
    0,
    true,
  ],
])('%s', (_, messages, ownSteps, expected) => {
  expect(used(messages, ownSteps)).toBe(expected)
})
