import { expect, test, vi } from 'vitest'
import type { CodeContextId, CodeInterpreter } from '../../../src/modules/code/contract.ts'
import { StubAgent } from '../../tools/stub-context.ts'

function agentWith(deleteContext: NonNullable<CodeInterpreter['deleteContext']>) {
  const code: CodeInterpreter = {
    languages: ['python'],
    isStateful: true,
    runCode: async () => ({ outputs: [], exitCode: 0 }),
    createContext: async () => 'c1' as CodeContextId,
    runInContext: async () => ({ outputs: [], exitCode: 0 }),
    deleteContext,
  }
  return new StubAgent({ code }, { code: { isStateful: true } })
}

test('delete_code_context deletes the context that is named, and says so afterwards', async () => {
  const done = Promise.withResolvers<void>()
  const deleteContext = vi.fn<NonNullable<CodeInterpreter['deleteContext']>>(() => done.promise)
  const agent = agentWith(deleteContext)
  const ended = vi.fn<(result: unknown) => void>()
  const call = agent.call('delete_code_context', { contextId: 'c7' }).then(ended)
  await vi.waitFor(() => expect(deleteContext).toHaveBeenCalledWith('c7'), { timeout: 60_000 })
  expect(deleteContext).toHaveBeenCalledTimes(1)
  expect(ended).not.toHaveBeenCalled()
  done.resolve()
  await call
  expect(ended).toHaveBeenCalledWith({ contextId: 'c7' })
})

test('a context that cannot be deleted is an error of the call', async () => {
  const broken = new Error('no answer')
  const agent = agentWith(() => Promise.reject(broken))
  await expect(agent.call('delete_code_context', { contextId: 'c7' })).rejects.toBe(broken)
})
