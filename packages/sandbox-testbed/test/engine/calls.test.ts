import { describe, expect, it } from 'vitest'
import { CallFollower } from '../../src/engine/network/calls.ts'
import {
  isContainerOf,
  objectIdFromName,
  ownerOf,
} from '../../src/engine/container/container-name.ts'

describe('calls of a connection', () => {
  it('numbers what the Worker sends and matches the answers', () => {
    const calls = new CallFollower()
    const from = (message: unknown) => calls.fromWorker(Buffer.from(JSON.stringify(message)))
    const answer = (message: unknown) => calls.answeredBy(Buffer.from(JSON.stringify(message)))
    expect(from(['push', ['pipeline', 0, ['utils', 'ping'], []]])).toEqual({
      id: 1,
      method: 'utils.ping',
    })
    expect(from(['pull', 1])).toBeUndefined()
    expect(from(['pipe'])).toBeUndefined()
    expect(from(['push', ['pipeline', 0, ['files']]])).toBeUndefined()
    expect(from(['push', ['pipeline', 0, ['files', 'writeFile'], ['x'.repeat(5000)]]])).toEqual({
      id: 4,
      method: 'files.writeFile',
    })
    expect(answer(['resolve', 4, {}])).toBe(4)
    expect(answer(['reject', 1, ['error', 'Error', 'no']])).toBe(1)
    expect(answer(['release', 1, 1])).toBeUndefined()
  })
})

describe('names of containers', () => {
  it('tells whose container it is', () => {
    const id = objectIdFromName('testbed-Sandbox', 'one')
    expect(id).toMatch(/^[0-9a-f]{64}$/)
    expect(isContainerOf(`workerd-testbed-Sandbox-${id}`, 'one')).toBe(true)
    expect(isContainerOf(`workerd-testbed-Sandbox-${id}`, 'two')).toBe(false)
    expect(isContainerOf(`workerd-other-Sandbox-${id}`, 'one')).toBe(false)
    expect(ownerOf('something-else')).toBeUndefined()
  })
})
