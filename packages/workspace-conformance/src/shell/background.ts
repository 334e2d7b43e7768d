import type { Shell, Workspace } from '@helix-agents/core/provider'
import { check, equal, offered, rejectsWithCode, textOf } from '../assert.ts'
import {
  HEARTBEAT,
  heartStopped,
  run,
  type ShellBehaviour,
  shellOf,
  waitFor,
} from './shell-subject.ts'

type BackgroundShell = Shell & Required<Pick<Shell, 'start' | 'list' | 'output' | 'kill'>>

const METHODS = ['start', 'list', 'output', 'kill']

function backgroundOf(ws: Workspace): BackgroundShell {
  const shell = shellOf(ws)
  check(hasBackground(shell), 'start, list, output and kill')
  return shell
}

function hasBackground(shell: Shell): shell is BackgroundShell {
  return offered(shell, METHODS).every(Boolean)
}

async function exited(ws: Workspace, id: string): Promise<void> {
  const shell = backgroundOf(ws)
  const look = async (): Promise<boolean> => (await shell.output(id)).process.state === 'exited'
  await waitFor(ws, `process ${id} to end`, look)
}

export const backgroundBehaviours: readonly ShellBehaviour[] = [
  {
    id: 'shell/background/outlives-the-call',
    needs: ['background'],
    slow: true,
    run: async (ws) => {
      const shell = backgroundOf(ws)
      const { id, state } = await shell.start('echo begun; sleep 60')
      equal(state, 'running')
      const look = async (): Promise<boolean> =>
        textOf((await shell.output(id)).stdout) === 'begun\n'
      await waitFor(ws, 'the first output', look)
      equal(
        (await shell.list()).map((it) => [it.id, it.state]),
        [[id, 'running']],
      )
      await shell.kill(id)
    },
  },
  {
    id: 'shell/background/an-ended-one-has-its-exit-code',
    needs: ['background'],
    slow: true,
    run: async (ws) => {
      const shell = backgroundOf(ws)
      const { id } = await shell.start('echo out; echo err >&2; exit 5')
      await exited(ws, id)
      const { stdout, stderr, process } = await shell.output(id)
      equal([textOf(stdout), textOf(stderr), process.exitCode], ['out\n', 'err\n', 5])
    },
  },
  {
    id: 'shell/background/output-is-read-on-from-an-offset',
    needs: ['background'],
    slow: true,
    run: async (ws) => {
      const shell = backgroundOf(ws)
      const { id } = await shell.start('printf abcdef; printf 123 >&2')
      await exited(ws, id)
      const rest = await shell.output(id, { stdoutOffset: 4, stderrOffset: 1 })
      equal([textOf(rest.stdout), textOf(rest.stderr)], ['ef', '23'])
      equal([rest.nextStdoutOffset, rest.nextStderrOffset], [6, 3])
      equal((await shell.output(id, { stdoutOffset: 6 })).stdout.length, 0)
    },
  },
  {
    id: 'shell/background/kill-ends-the-tree',
    needs: ['background'],
    slow: true,
    run: async (ws) => {
      const shell = backgroundOf(ws)
      const { id } = await shell.start(`( (${HEARTBEAT}) & ); sleep 60`)
      await waitFor(ws, 'a heartbeat', async () => (await run(ws, 'test -s beat')).exitCode === 0)
      await shell.kill(id)
      await heartStopped(ws)
      equal((await shell.output(id)).process.state, 'exited')
      await shell.kill(id)
    },
  },
  {
    id: 'shell/background/an-unknown-id-is-rejected',
    needs: ['background'],
    run: async (ws) => {
      const shell = backgroundOf(ws)
      await rejectsWithCode('invalid-input', () => shell.output('no-such-process'))
      await rejectsWithCode('invalid-input', () => shell.kill('no-such-process'))
    },
  },
  {
    id: 'shell/background/is-offered-whole-or-not-at-all',
    run: async (ws) => {
      equal(new Set(offered(shellOf(ws), METHODS)).size, 1)
    },
  },
]
