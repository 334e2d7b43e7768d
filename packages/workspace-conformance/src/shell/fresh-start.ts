import { check, equal, rejectsWithCode } from '../assert.ts'
import { unguessable } from '../unguessable.ts'
import { outputOf, run, type ShellBehaviour, stillWorks } from './shell-subject.ts'

/** Kills a process group only where the command leads it: another may be that of the test runner. */
const KILL_OWN_GROUP =
  's=$(cat /proc/$$/stat); s=${s##*) }; set -- $s; [ "$3" = $$ ] && kill -9 0; kill -9 $$'

/** Runs a line that must not harm the next one. */
function harmless(name: string, lines: readonly string[]): ShellBehaviour {
  return {
    id: `shell/fresh/${name}`,
    run: async (ws) => {
      for (const line of lines) {
        const result = await run(ws, line, { timeoutMs: 10_000 })
        check(!result.timedOut, `an end of ${line}`)
        await stillWorks(ws)
      }
    },
  }
}

export const freshStartBehaviours: readonly ShellBehaviour[] = [
  harmless('exit-ends-only-itself', ['exit 4', 'exit', 'exit 0; echo never']),
  harmless('exec-ends-only-itself', [
    'exec true',
    'exec >/dev/null',
    'exec 1>&- 2>&-',
    'exec 0<&-',
  ]),
  harmless('open-quotes-and-blocks-end', [
    'echo "open',
    "echo 'open",
    'if true',
    '(',
    'echo `open',
  ]),
  harmless('an-open-here-document-ends', ['cat <<EOF\nnever closed', 'cat <<EOF']),
  harmless('traps-and-options-end', [
    'trap "" TERM INT',
    "trap 'echo trapped' EXIT",
    'set -eu; false',
  ]),
  harmless('killing-itself-is-contained', ['kill -9 $$', KILL_OWN_GROUP]),
  {
    id: 'shell/fresh/the-exit-code-is-of-the-line',
    run: async (ws) => {
      equal((await run(ws, 'exit 4')).exitCode, 4)
      equal((await run(ws, 'set -e; false; echo never')).exitCode, 1)
      check((await run(ws, 'echo "open')).exitCode !== 0, 'a failure for an open quote')
    },
  },
  {
    id: 'shell/fresh/cd-does-not-stay',
    run: async (ws) => {
      const before = await outputOf(ws, 'pwd')
      await run(ws, 'cd /')
      equal(await outputOf(ws, 'pwd'), before)
    },
  },
  {
    id: 'shell/fresh/variables-and-functions-do-not-stay',
    run: async (ws) => {
      await run(ws, 'export leaked=1; other=2; leaked() { echo 3; }; umask 077; set -f')
      equal(await outputOf(ws, 'echo "[$leaked$other]"; leaked 2>/dev/null; echo $?'), '[]\n127')
      const umask = await outputOf(ws, 'umask')
      check(umask !== '0077', `the usual umask, got ${umask}`)
    },
  },
  {
    id: 'shell/cwd/the-default-is-the-root',
    run: async (ws) => {
      check(ws.shellRoot !== undefined, 'a shellRoot')
      equal(await outputOf(ws, 'pwd'), ws.shellRoot)
    },
  },
  {
    id: 'shell/cwd/is-a-path-of-the-workspace',
    run: async (ws) => {
      await run(ws, 'mkdir -p "a b/c"')
      const root = await outputOf(ws, 'pwd')
      equal(await outputOf(ws, 'pwd', { cwd: '/a b/c' }), `${root}/a b/c`)
      equal(await outputOf(ws, ['pwd'], { cwd: 'a b' }), `${root}/a b`)
    },
  },
  {
    id: 'shell/cwd/outside-or-missing-is-rejected',
    run: async (ws) => {
      await rejectsWithCode('path-escape', () => run(ws, 'pwd', { cwd: `/../${unguessable()}` }))
      await rejectsWithCode(['working-directory-missing', 'not-found'], () =>
        run(ws, 'pwd', { cwd: '/missing' }),
      )
      await stillWorks(ws)
    },
  },
  {
    id: 'shell/env/reaches-the-command-and-not-the-next',
    run: async (ws) => {
      const env = { KIT_VALUE: 'a "b" $HOME `id`\n\'c\'' }
      equal(await outputOf(ws, 'printf %s "$KIT_VALUE"', { env }), env.KIT_VALUE)
      equal(await outputOf(ws, ['printenv', 'KIT_VALUE'], { env }), env.KIT_VALUE)
      equal(await outputOf(ws, 'echo "[$KIT_VALUE]"'), '[]')
    },
  },
]
