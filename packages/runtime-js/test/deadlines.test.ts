import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

// Nothing but deadlines is under way in it: no socket, no process, no other timer.
const program = `
  import { defineAgent, defineTool, MockLLMAdapter } from '@helix-agents/core'
  import { JSAgentExecutor } from '@helix-agents/runtime-js'
  import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
  import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'

  const untilAborted = (signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const create = (steps, options) =>
    new JSAgentExecutor(new InMemoryStateStore(), new InMemoryStreamManager(), new MockLLMAdapter(steps), options)
  const done = { type: 'text', content: 'done', shouldStop: true }
  const call = (name) => ({ type: 'tool_calls', toolCalls: [{ id: '1', name, arguments: {} }] })
  const llmConfig = { model: 'scripted' }

  const slow = defineTool({
    name: 'slow',
    description: '',
    inputSchema: { type: 'object' },
    timeoutMs: 10,
    execute: (_, { abortSignal }) => untilAborted(abortSignal),
  })
  const patient = defineAgent({ name: 'patient', llmConfig, tools: [slow] })
  const first = await create([call('slow'), done]).execute(patient, 'Go')
  console.log('tool', (await first.result()).status)

  const bounded = defineAgent({ name: 'bounded', llmConfig, maxDurationMs: 10 })
  const second = await create([({ abortSignal }) => untilAborted(abortSignal)]).execute(bounded, 'Go')
  console.log('run', (await second.result()).error.code)

  const provider = new InMemoryWorkspaceProvider()
  const open = provider.open.bind(provider)
  provider.open = async (...args) => {
    const opened = await open(...args)
    opened.ws.close = () => new Promise(() => {})
    return opened
  }
  const workspaces = { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } }
  const holder = defineAgent({ name: 'holder', llmConfig, workspaces })
  const third = await create([done], {
    workspaceProviders: [provider],
    workspaceOpenStrategy: 'eager',
    workspaceRegistry: { closeTimeoutMs: 10, onOwedDestroy: ({ reason }) => console.log('close', reason) },
  }).execute(holder, 'Go', { keepWorkspaces: false })
  await third.result()

  const executor = create([({ abortSignal }) => untilAborted(abortSignal)])
  const fourth = await executor.execute(defineAgent({ name: 'a', llmConfig }), 'Go')
  await executor.shutdown({ timeoutMs: 10 })
  console.log('shutdown', (await fourth.result()).status)
`

test(
  'a deadline rings also where nothing else keeps the process alive',
  { timeout: 120_000 },
  async () => {
    const args = ['--conditions=@helix-agents/source', '--input-type=module', '--eval', program]
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: import.meta.dirname,
    })
    expect(stdout.trim().split('\n')).toEqual([
      'tool completed',
      'run max-duration',
      'close timeout',
      'shutdown interrupted',
    ])
  },
)
