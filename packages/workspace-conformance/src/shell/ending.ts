import { check, equal } from '../assert.ts'
import {
  HEARTBEAT,
  heartStopped,
  outputOf,
  run,
  type ShellBehaviour,
  stillWorks,
  summary,
} from './shell-subject.ts'

/** How long after its deadline a command may still take to end; less than it sleeps. */
const GRACE_MS = 45_000
const TIMEOUT_MS = 500

/** A heartbeat that says once that it beats. */
const BEATING = HEARTBEAT.replace('do n=', 'do [ $n = 3 ] && echo beating; n=')

/** A command that runs into its timeout, together with everything it started. */
function endsTree(name: string, command: string): ShellBehaviour {
  return {
    id: `shell/timeout/${name}`,
    slow: true,
    run: async (ws) => {
      const startedAt = Date.now()
      const result = await run(ws, command, { timeoutMs: TIMEOUT_MS })
      check(Date.now() - startedAt < TIMEOUT_MS + GRACE_MS, 'an end soon after the deadline')
      equal([result.timedOut, result.exitCode], [true, 124])
      await heartStopped(ws)
      await stillWorks(ws)
    },
  }
}

export const endingBehaviours: readonly ShellBehaviour[] = [
  {
    id: 'shell/timeout/keeps-the-output-so-far',
    slow: true,
    run: async (ws) => {
      // A command needs its time to start, a multiple of it on a busy machine.
      const started = Date.now()
      await run(ws, 'true')
      const options = { timeoutMs: TIMEOUT_MS + 10 * (Date.now() - started) }
      const result = await run(ws, 'echo before; echo warn >&2; sleep 60; echo never', options)
      equal(summary(result), ['before\n', 'warn\n', 124])
      equal(result.timedOut, true)
    },
  },
  endsTree('ends-a-child-in-the-background', `(${HEARTBEAT}) & sleep 60`),
  endsTree('ends-a-grandchild-whose-parent-is-gone', `( (${HEARTBEAT}) & ) ; sleep 60`),
  endsTree('ends-a-child-that-holds-the-output', `(${HEARTBEAT}; echo never) & wait`),
  endsTree('ends-what-ignores-a-polite-signal', `trap '' TERM INT HUP; ${HEARTBEAT}`),
  {
    id: 'shell/timeout/holds-for-argument-vectors',
    slow: true,
    run: async (ws) => {
      const result = await run(ws, ['sleep', '60'], { timeoutMs: TIMEOUT_MS })
      equal([result.timedOut, result.exitCode], [true, 124])
    },
  },
  {
    id: 'shell/timeout/a-fast-command-is-not-touched',
    run: async (ws) => {
      const result = await run(ws, 'echo fast', { timeoutMs: 20_000 })
      equal([result.timedOut, result.exitCode], [false, 0])
    },
  },
  {
    id: 'shell/abort/ends-a-loop-and-keeps-the-output',
    slow: true,
    run: async (ws) => {
      const controller = new AbortController()
      const result = await run(ws, `echo ready; (${BEATING}); echo never`, {
        signal: controller.signal,
        onStdout: async (chunk) => {
          if (new TextDecoder().decode(chunk).includes('beating')) controller.abort()
        },
      })
      check(result.exitCode !== 0, 'no success')
      equal(new TextDecoder().decode(result.stdout), 'ready\nbeating\n')
      equal(result.timedOut, false)
      await heartStopped(ws)
    },
  },
  {
    id: 'shell/abort/ends-the-tree-and-keeps-the-output',
    slow: true,
    needs: ['processes'],
    run: async (ws) => {
      const controller = new AbortController()
      const startedAt = Date.now()
      const result = await run(ws, `echo ready; (${HEARTBEAT}) & sleep 0.2; echo beating; wait`, {
        signal: controller.signal,
        onStdout: async (chunk) => {
          if (new TextDecoder().decode(chunk).includes('beating')) controller.abort()
        },
      })
      check(Date.now() - startedAt < GRACE_MS, 'an end soon after the abort')
      check(result.exitCode !== 0, 'no success')
      equal(new TextDecoder().decode(result.stdout), 'ready\nbeating\n')
      equal(result.timedOut, false)
      await heartStopped(ws)
    },
  },
  {
    id: 'shell/abort/before-the-start-runs-nothing',
    run: async (ws) => {
      const signal = AbortSignal.abort(new Error('stopped by the test'))
      const outcome = await run(ws, 'echo made > made', { signal }).then(
        (result) => result.exitCode,
        () => 'rejected',
      )
      check(outcome !== 0, 'no success')
      equal(await outputOf(ws, 'cat made 2>/dev/null; echo end'), 'end')
    },
  },
]
