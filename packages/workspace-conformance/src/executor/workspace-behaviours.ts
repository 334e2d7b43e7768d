import { type Agent, createSubAgentTool, type MockStep } from '@helix-agents/core'
import type { WorkspaceDescription } from '@helix-agents/core/runtime'
import { check, equal, rejectsWithCode } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import {
  agentWithBox,
  call,
  chunksOf,
  endOf,
  lastResult,
  messagesOf,
  newAgent,
  newGate,
  newTool,
  play,
  readFile,
  resultsIn,
  runToEnd,
  say,
  SESSION,
  start,
  within,
  writeFile,
} from './agent-script.ts'
import type { AgentExecutor, ExecutorScenario, ExecutorSubject } from './executor-subject.ts'

const CONTENT = 'content of the file'
const INPUT = { type: 'object', properties: { task: { type: 'string' } } }

export const workspaceBehaviours: readonly Behaviour<ExecutorSubject>[] = [
  {
    id: 'executor/workspace/files-are-there-in-the-next-step',
    run: async (subject) => {
      const scenario = await play(subject, [
        writeFile('/poem.txt', 'roses'),
        readFile('/poem.txt'),
        say('done'),
      ])
      await runToEnd(scenario.executor, agentWithBox(subject))
      check(lastResult(await messagesOf(scenario)).includes('roses'), 'the text of the file')
    },
  },
  {
    id: 'executor/workspace/ref-is-stored-before-the-first-operation',
    run: async (subject) => {
      const opened = newGate()
      const scenario = await play(subject, [
        writeFile('/a', 'x'),
        async () => {
          const head = await scenario.store.loadSession(SESSION)
          equal(Object.keys(head?.workspaceRefs ?? {}), ['box'])
          opened.open()
          return say('done')
        },
      ])
      equal((await runToEnd(scenario.executor, agentWithBox(subject))).status, 'completed')
      await within(opened.passed)
    },
  },
  {
    id: 'executor/workspace/unknown-kind-fails-at-execute',
    run: async (subject) => {
      const box = { provider: { kind: 'nobody-has-this' }, capabilities: { fs: true } }
      const { executor, store } = await play(subject, [say('not reached')])
      const agent = newAgent({ workspaces: { box } })
      await rejectsWithCode('config-invalid', () => start(executor, agent))
      equal((await store.loadSession(SESSION))?.status ?? 'idle', 'idle')
    },
  },
  {
    id: 'executor/workspace/interrupt-keeps-the-files',
    run: async (subject) => {
      const { agent, scenario } = await interrupted(subject, [readFile('/a.txt'), say('done')])
      equal(scenario.executor.getWorkspaceRegistry(SESSION), undefined)
      await endOf(await scenario.executor.resume(agent, SESSION))
      check(lastResult(await messagesOf(scenario)).includes(CONTENT), 'the text of the file')
    },
  },
  {
    id: 'executor/workspace/registry-is-there-while-a-run-is',
    run: async (subject) => {
      const seen: (readonly WorkspaceDescription[] | undefined)[] = []
      let executor: AgentExecutor | undefined
      const look = newTool({
        name: 'look',
        execute: async () => void seen.push(executor?.getWorkspaceRegistry(SESSION)?.describe()),
      })
      const scenario = await play(subject, [writeFile('/a', 'x'), call([['look']]), say('done')])
      executor = scenario.executor
      equal(executor.getWorkspaceRegistry(SESSION), undefined)
      await runToEnd(executor, agentWithBox(subject, { tools: [look] }))
      equal(
        seen[0]?.map((one) => [one.name, one.providerId, one.state]),
        [['box', subject.workspace.kind, 'open']],
      )
      equal(executor.getWorkspaceRegistry(SESSION), undefined)
    },
  },
  {
    id: 'executor/workspace/no-registry-without-workspaces',
    run: async (subject) => {
      const seen: unknown[] = []
      let executor: AgentExecutor | undefined
      const look = newTool({
        name: 'look',
        execute: async () => void seen.push(executor?.getWorkspaceRegistry(SESSION) === undefined),
      })
      const scenario = await play(subject, [call([['look']]), say('done')])
      executor = scenario.executor
      await runToEnd(executor, newAgent({ tools: [look] }))
      equal(seen, [true])
    },
  },
  {
    id: 'executor/branch/starts-with-the-messages-and-fresh-workspaces',
    run: async (subject) => {
      const { agent, scenario } = await interrupted(subject, [readFile('/a.txt'), say('done')])
      const before = await messagesOf(scenario)
      const branch = { fromSessionId: SESSION, sessionId: 'branch' }
      await within(scenario.executor.branch(agent, branch))
      await endOf(await start(scenario.executor, agent, 'second', 'branch'))
      const messages = await messagesOf(scenario, 'branch')
      equal(
        messages.filter((message) => message.role === 'user').map((message) => message.content),
        ['go', 'second'],
      )
      check(!lastResult(messages).includes(CONTENT), 'no file of the source')
      check(lastResult(messages).includes('[not-found]'), 'a workspace without files')
      equal(await messagesOf(scenario), before)
    },
  },
  {
    id: 'executor/sub-agent/has-its-own-workspaces',
    run: async (subject) => {
      const child = agentWithBox(subject, { name: 'child' })
      const agent = agentWithBox(subject, { tools: [createSubAgentTool(child, INPUT)] })
      const scenario = await play(subject, [
        call([['subagent__child', { task: 'write' }]], 'sub-'),
        writeFile('/a.txt', 'of the child'),
        say('child is done'),
        readFile('/a.txt'),
        say('done'),
      ])
      await runToEnd(scenario.executor, agent)
      const messages = await messagesOf(scenario)
      equal(resultsIn(messages)[0]?.isError ?? false, false)
      check(lastResult(messages).includes('[not-found]'), 'no file of the child')
    },
  },
  {
    id: 'executor/sub-agent/inherits-on-request',
    run: async (subject) => {
      const child = newAgent({ name: 'child' })
      const tool = createSubAgentTool(child, INPUT, { inheritWorkspaces: true })
      const scenario = await play(subject, [
        call([['subagent__child', { task: 'write' }]], 'sub-'),
        writeFile('/a.txt', 'of the child'),
        say('child is done'),
        readFile('/a.txt'),
        say('done'),
      ])
      await runToEnd(scenario.executor, agentWithBox(subject, { tools: [tool] }))
      check(
        lastResult(await messagesOf(scenario)).includes('of the child'),
        'the file of the child',
      )
    },
  },
  {
    id: 'executor/sub-agent/result-is-the-tool-result',
    run: async (subject) => {
      const tool = createSubAgentTool(newAgent({ name: 'child' }), INPUT)
      const scenario = await play(subject, [
        call([['subagent__child', { task: 'think' }]]),
        say('child is done'),
        say('done'),
      ])
      const handle = await start(scenario.executor, newAgent({ tools: [tool] }))
      const chunks = await chunksOf(handle)
      const wanted = ['tool_start', 'subagent_start', 'subagent_end', 'tool_end', 'output']
      equal(
        chunks.map((chunk) => chunk.type).filter((type) => wanted.includes(type)),
        wanted,
      )
      check(
        lastResult(await messagesOf(scenario)).includes('child is done'),
        'the text of the child',
      )
      const childChunk = chunks.find((chunk) => chunk.type === 'subagent_start')
      const childId = childChunk?.type === 'subagent_start' ? childChunk.subSessionId : ''
      const childHead = await scenario.store.loadSession(childId)
      equal([childHead?.parentSessionId, childHead?.status], [SESSION, 'completed'])
    },
  },
]

interface Interrupted {
  readonly agent: Agent
  readonly scenario: ExecutorScenario
}

/** A session that has written `/a.txt` and was interrupted then; `steps` are still to come. */
async function interrupted(
  subject: ExecutorSubject,
  steps: readonly MockStep[],
): Promise<Interrupted> {
  const [asked, go] = [newGate(), newGate()]
  const pause = newTool({
    name: 'pause',
    execute: async () => {
      asked.open()
      await go.passed
      return ''
    },
  })
  const agent = agentWithBox(subject, { tools: [pause] })
  const script = [writeFile('/a.txt', CONTENT), call([['pause']]), ...steps]
  const scenario = await play(subject, script)
  const handle = await start(scenario.executor, agent)
  await within(asked.passed)
  await handle.interrupt()
  go.open()
  equal((await endOf(handle)).status, 'interrupted')
  return { agent, scenario }
}
