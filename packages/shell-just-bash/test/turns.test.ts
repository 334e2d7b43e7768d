// In an isolate nothing interrupts a script: it lets timers run itself, in each round of a loop.
import { noopLogger, systemClock } from '@helix-agents/core'
import type { EngineShell, RunResult } from '@helix-agents/core/provider'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { afterEach, describe, expect, test } from 'vitest'
import { createEngine } from '../src/engine.ts'
import { InIsolateRunner } from '../src/in-isolate-runner.ts'
import { ISOLATE_LIMITS } from '../src/options.ts'

let shell: EngineShell | undefined
afterEach(() => shell?.close())

function run(command: string, limits = {}, timeoutMs = 60_000): Promise<RunResult> {
  const engine = createEngine({ limits }, ISOLATE_LIMITS, () => new InIsolateRunner())
  const files = new InMemoryFileSystem({ versionPrefix: 'v' })
  shell = engine.open({ files, clock: systemClock, logger: noopLogger })
  return shell.run(command, { timeoutMs })
}

// No limit of steps is in reach: only a timer can end them.
test.each([
  'while :; do :; done',
  'until false; do true; done',
  'for ((;;)); do x=1; done',
  'f() { g; }; g() { while :; do :; done; }; f',
  'f() { f2; f2; }; f2() { f3; f3; }; f3() { while :; do f4; done; }; f4() { :; }; f',
  'x=$(while :; do :; done); echo $x',
  'echo "$(( $(while :; do :; done) + 1 ))" < <(echo x)',
  'cat < <(while :; do :; done)',
  'while :; do :; done | cat',
  'a=(); while :; do a+=("$RANDOM$RANDOM$RANDOM"); done',
  'exec 2>/dev/null; while :; do nope; done',
  'bash -c "while :; do :; done"',
  'echo x | xargs -I{} bash -c "until false; do :; done"',
  'case x in x) if true; then { ( while :; do :; done ); }; fi;; esac',
  "awk 'BEGIN { while (1) i++ }'",
  "awk 'BEGIN { for (;;) a[i++ % 9] = i }'",
  'awk \'BEGIN { do { x = x "" } while (1) }\'',
  "awk 'function f(n) { if (n < 60) { f(n + 1); f(n + 1) } } BEGIN { f(1) }'",
  'awk \'BEGIN { for (;;) for (i = 0; i < 10000; i++) { gsub(/a/, "b", x) } }\'',
])('time ends %s', { timeout: 60_000 }, async (command) => {
  const limits = { maxCommands: 1e9, maxLoopIterations: 1e9, maxCallDepth: 50 }
  const { timedOut, exitCode } = await run(command, limits, 100)
  expect([timedOut, exitCode]).toEqual([true, 124])
})

describe('a turn leaves a script as it is', () => {
  test.each([
    ['false; for i in 1 2; do echo $?; (exit 3); done; echo $?', '1\n3\n3\n'],
    ['f() { echo $?; return 4; }; false; f; echo $?', '1\n4\n'],
    ['set -e; false || true; for i in 1 2; do false && true; done; echo end', 'end\n'],
    ['set -e; for i in 1 2; do echo $i; false; done; echo never', '1\n'],
    ['printf "a\\nb\\n" | while read x; do echo "[$x]"; done', '[a]\n[b]\n'],
    ['for i in 1 2 3; do [ $i = 2 ] && continue; [ $i = 3 ] && break; echo $i; done', '1\n'],
    ['f() { for x in "$@"; do echo "$x"; done; }; f a "b c"', 'a\nb c\n'],
    ['i=0; while [ $i -lt 3 ]; do i=$((i+1)); done; echo $? $i', '0 3\n'],
  ])('%s', async (command, expected) => {
    expect(new TextDecoder().decode((await run(command)).stdout)).toBe(expected)
  })
})
