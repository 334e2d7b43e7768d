import { check, equal, equalBytes } from '../assert.ts'
import { outputOf, run, type ShellBehaviour, stillWorks, summary } from './shell-subject.ts'

const line = (letter: string): string => letter.repeat(50)

const loop = (letter: string): string =>
  `i=0; while [ $i -lt 100 ]; do echo ${line(letter)}; i=$((i + 1)); done`

export const runBehaviours: readonly ShellBehaviour[] = [
  {
    id: 'shell/run/output-and-exit-code',
    run: async (ws) => {
      equal(summary(await run(ws, 'echo out; echo err >&2; exit 3')), ['out\n', 'err\n', 3])
    },
  },
  {
    id: 'shell/run/success-is-zero',
    run: async (ws) => {
      const result = await run(ws, 'true')
      equal(summary(result), ['', '', 0])
      equal([result.timedOut, result.callbackErrors?.length ?? 0], [false, 0])
      check(result.durationMs >= 0, 'a duration')
    },
  },
  {
    id: 'shell/run/a-signal-is-128-and-its-number',
    run: async (ws) => {
      equal((await run(ws, 'kill -9 $$')).exitCode, 137)
      equal((await run(ws, 'kill -TERM $$')).exitCode, 143)
      await stillWorks(ws)
    },
  },
  {
    id: 'shell/run/an-unknown-command-is-127',
    run: async (ws) => equal((await run(ws, 'no-such-command-here')).exitCode, 127),
  },
  {
    id: 'shell/run/output-is-bytes',
    run: async (ws) => {
      const { stdout, stderr } = await run(ws, "printf '\\000\\377\\n\\303'; printf '\\200' >&2")
      equalBytes(stdout, Uint8Array.of(0, 255, 10, 0xc3))
      equalBytes(stderr, Uint8Array.of(0x80))
    },
  },
  {
    id: 'shell/run/a-character-may-come-in-pieces',
    run: async (ws) => {
      const pieces: number[] = []
      const result = await run(ws, "printf '\\346'; sleep 0.1; printf '\\260\\264'", {
        onStdout: async (chunk) => void pieces.push(...chunk),
      })
      equalBytes(result.stdout, '水')
      equalBytes(Uint8Array.from(pieces), '水')
    },
  },
  {
    id: 'shell/run/stdin-is-closed',
    run: async (ws) => {
      equal(await outputOf(ws, 'cat; read line; echo "read $?"', { timeoutMs: 10_000 }), 'read 1')
      equal((await run(ws, ['cat'], { timeoutMs: 10_000 })).timedOut, false)
    },
  },
  {
    id: 'shell/run/a-line-may-be-a-script',
    run: async (ws) => {
      const script = 'total=0\nfor n in 1 2 3; do\n  total=$((total + n))\ndone\necho "sum: $total"'
      equal(await outputOf(ws, script), 'sum: 6')
      equal(await outputOf(ws, "cat <<'EOF' | tr a-z A-Z\nhere $x\nEOF"), 'HERE $X')
    },
  },
  {
    id: 'shell/run/two-at-once-never-mix',
    slow: true,
    run: async (ws) => {
      const letters = ['a', 'b', 'c']
      const outputs = await Promise.all(letters.map((letter) => outputOf(ws, loop(letter))))
      for (const [index, output] of outputs.entries()) {
        equal([...new Set(output.split('\n'))], [line(letters[index] ?? '')])
        equal(output.split('\n').length, 100)
      }
    },
  },
  {
    id: 'shell/argv/nothing-is-interpreted',
    run: async (ws) => {
      const words = ['$HOME;*', '`id`', '$(id)', '>x', '|', '&&', '~', '{a,b}', '#', '!!']
      equal(await outputOf(ws, ['echo', ...words]), words.join(' '))
      equal(await outputOf(ws, 'ls -a | wc -l | tr -d " "'), '2')
    },
  },
  {
    id: 'shell/argv/every-word-arrives-whole',
    run: async (ws) => {
      const words = ['', 'a  b', "it's", '"q"', '\\', 'new\nline', '-n', 'zß水🍌', "'"]
      equal(
        await outputOf(ws, ['printf', '[%s]', ...words]),
        words.map((word) => `[${word}]`).join(''),
      )
    },
  },
  {
    id: 'shell/argv/has-exit-codes-too',
    run: async (ws) => {
      equal((await run(ws, ['false'])).exitCode, 1)
      equal((await run(ws, ['no-such-command-here', 'x'])).exitCode, 127)
    },
  },
]
