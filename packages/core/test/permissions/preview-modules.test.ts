// What a person sees before code, processes and snapshots.
import { describe, expect, test } from 'vitest'
import { previewCall } from '../../src/permissions/preview-call.ts'
import type { RequestPreview } from '../../src/state/session-requests.ts'
import { StubAgent } from '../tools/stub-context.ts'

const never = (): Promise<never> => Promise.reject(new Error('nothing runs here'))

const started = {
  id: 'p1',
  command: 'npm start',
  state: 'running',
  startedAt: new Date(0),
} as const

describe('what runs, and snapshots', () => {
  const modules = {
    shell: { run: never, start: never, list: async () => [started], kill: never, output: never },
    code: { languages: ['python'], isStateful: true } as never,
    snapshot: { branch: never } as never,
  }
  const agent = new StubAgent(
    modules,
    { shell: { background: true }, code: { isStateful: true }, snapshot: true },
    { shell: true, code: true, snapshot: true, branch: true },
  )
  const shown = async (name: string, input: object): Promise<RequestPreview> => {
    const tool = agent.tools.get(name)!
    const args = JSON.stringify(input)
    return previewCall({ tool, input: await tool.parse(input), access: agent.context, args })
  }
  const ref = { providerId: 'p', ref: { id: 's1' } }
  const json = JSON.stringify(ref, null, 2)

  test.each<readonly [string, object, Partial<RequestPreview>]>([
    [
      'run_code',
      { language: 'python', code: 'print(1)' },
      { title: 'run python code', body: 'print(1)' },
    ],
    [
      'run_in_code_context',
      { contextId: 'c1', code: 'x = 1' },
      { title: 'run code in context c1', body: 'x = 1' },
    ],
    ['create_code_context', { language: 'python' }, { title: 'open a context of python' }],
    ['delete_code_context', { contextId: 'c1' }, { title: 'close context c1' }],
    ['process_kill', { id: 'p1' }, { title: 'end process p1: npm start', body: 'npm start' }],
    ['process_kill', { id: 'p2' }, { title: 'end process p2' }],
    ['snapshot', {}, { title: 'take a snapshot' }],
    [
      'restore',
      { ref },
      {
        title: 'go back to a snapshot: what changed since is left behind',
        body: json,
        format: 'json',
      },
    ],
    [
      'branch',
      { ref },
      { title: 'make a separate workspace from a snapshot', body: json, format: 'json' },
    ],
  ])('%s of %j shows what it does', async (name, input, expected) => {
    expect(await shown(name, input)).toMatchObject(expected)
  })
})
