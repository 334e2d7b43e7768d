// Agents in a process of their own. They run commands in local-bash workspaces and tell the fleet
// what they do. The process ends when it is told to, or when the story is over.
import { defineAgent, MockLLMAdapter } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { createLifecycleListener, type FleetReporter } from '@helix-agents/sandbox-fleet'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { openFleet, workspacesOf } from './open-fleet.ts'
import type { Order } from './worker-process.ts'

const ends: (() => Promise<void>)[] = []

process.on('message', (message: Order | 'finish') =>
  message === 'finish' ? void finish() : void work(message),
)
// Ctrl+C in a terminal reaches every process of the program: the main one says what becomes of this.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.once('disconnect', () => void finish())

async function work(order: Order): Promise<void> {
  const { fleet, close } = await openFleet(order.place, order.policy)
  const reporter = fleet.reporter(`process:${process.pid}`)
  const handle = await startAgent(order, reporter)
  ends.push(async () => {
    await handle.abort()
    await handle.result()
    await reporter.stop()
    await close()
  })
}

async function finish(): Promise<void> {
  await Promise.all(ends.map((end) => end()))
  process.exit()
}

function startAgent({ commands, isSilent = false, name, place }: Order, reporter: FleetReporter) {
  const agent = defineAgent({
    name,
    llmConfig: { model: 'scripted' },
    maxSteps: commands.length + 1,
    workspaces: { box: { provider: { kind: 'local-bash' }, capabilities: { shell: true } } },
  })
  const executor = new JSAgentExecutor(
    new InMemoryStateStore(),
    new InMemoryStreamManager(),
    scriptOf(commands),
    {
      workspaceProviders: [new LocalBashWorkspaceProvider({ tmpdirRoot: workspacesOf(place) })],
      // Every open, every operation and every close is reported to the fleet.
      ...(!isSilent && {
        lifecycle: createLifecycleListener(reporter, {
          providers: { 'local-bash': { onEnd: 'gone' } },
        }),
      }),
    },
  )
  return executor.execute(agent, 'Go.', { sessionId: name, keepWorkspaces: false })
}

/** Runs the commands one by one, and then thinks for ever. */
function scriptOf(commands: readonly string[]): MockLLMAdapter {
  const steps = commands.map((command, index) => ({
    type: 'tool_calls' as const,
    toolCalls: [{ id: `call-${index}`, name: 'workspace__box__run', arguments: { command } }],
  }))
  return new MockLLMAdapter([...steps, () => new Promise(() => {})])
}
