import { runSucceeded } from '@helix-agents/core'
import { check, equal, equalBytes } from '../assert.ts'
import { run, type ShellBehaviour, summary } from './shell-subject.ts'

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

export const callbackBehaviours: readonly ShellBehaviour[] = [
  {
    id: 'shell/callbacks/see-every-byte-in-order',
    run: async (ws) => {
      const [out, err]: [number[], number[]] = [[], []]
      const result = await run(ws, 'for n in 1 2 3 4 5; do echo $n; echo e$n >&2; done', {
        onStdout: async (chunk) => void out.push(...chunk),
        onStderr: async (chunk) => void err.push(...chunk),
      })
      equalBytes(Uint8Array.from(out), '1\n2\n3\n4\n5\n')
      equalBytes(Uint8Array.from(err), 'e1\ne2\ne3\ne4\ne5\n')
      equal(summary(result), ['1\n2\n3\n4\n5\n', 'e1\ne2\ne3\ne4\ne5\n', 0])
    },
  },
  {
    id: 'shell/callbacks/come-while-the-command-runs',
    slow: true,
    run: async (ws) => {
      const controller = new AbortController()
      let seen = ''
      await run(ws, 'echo first; sleep 60', {
        signal: controller.signal,
        timeoutMs: 30_000,
        onStdout: async (chunk) => {
          seen += new TextDecoder().decode(chunk)
          controller.abort()
        },
      })
      equal([seen, controller.signal.aborted], ['first\n', true])
    },
  },
  {
    id: 'shell/callbacks/are-awaited-one-by-one',
    slow: true,
    run: async (ws) => {
      let [active, most, bytes] = [0, 0, 0]
      const onStdout = async (chunk: Uint8Array): Promise<void> => {
        active += 1
        most = Math.max(most, active)
        await turn()
        bytes += chunk.length
        active -= 1
      }
      const command = 'for n in 1 2 3 4; do head -c 100000 /dev/zero; sleep 0.02; done'
      await run(ws, command, { onStdout })
      equal([active, most, bytes], [0, 1, 400_000])
    },
  },
  {
    id: 'shell/callbacks/an-error-changes-no-exit-code',
    run: async (ws) => {
      const result = await run(ws, 'echo out; echo err >&2', {
        onStdout: () => Promise.reject(new Error('the callback broke')),
      })
      equal(summary(result), ['out\n', 'err\n', 0])
      equal(result.callbackErrors?.map((error) => error.message).slice(0, 1), [
        'the callback broke',
      ])
      equal(runSucceeded(result), false)
    },
  },
  {
    id: 'shell/callbacks/no-error-no-list',
    run: async (ws) => {
      const result = await run(ws, 'echo x', { onStdout: async () => {} })
      equal([result.callbackErrors?.length ?? 0, runSucceeded(result)], [0, true])
      check(!runSucceeded(await run(ws, 'false')), 'no success for exit code 1')
    },
  },
]
