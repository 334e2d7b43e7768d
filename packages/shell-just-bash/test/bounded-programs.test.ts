// Programs whose steps can be of any size: what bounds them leaves other programs as they are.
import { noopLogger, systemClock } from '@helix-agents/core'
import type { EngineShell } from '@helix-agents/core/provider'
import { justBashShell } from '@helix-agents/shell-just-bash'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine } from '../src/engine.ts'
import { InIsolateRunner } from '../src/in-isolate-runner.ts'
import { ISOLATE_LIMITS } from '../src/options.ts'

const engines = {
  'in a thread': justBashShell(),
  'in the isolate': createEngine(
    { limits: { maxLoopIterations: 2000 } },
    ISOLATE_LIMITS,
    () => new InIsolateRunner(),
  ),
}

describe.each(Object.entries(engines))('%s', (place, engine) => {
  const files = new InMemoryFileSystem({ versionPrefix: 'v' })
  let shell: EngineShell
  beforeAll(() => {
    shell = engine.open({ files, clock: systemClock, logger: noopLogger })
  })
  afterAll(() => shell.close())

  async function run(command: string): Promise<readonly [string, string, number]> {
    const { stdout, stderr, exitCode } = await shell.run(command, { timeoutMs: 60_000 })
    const decoder = new TextDecoder()
    return [decoder.decode(stdout), decoder.decode(stderr), exitCode]
  }

  test.each([
    'BEGIN { $100000000 = 1; print NF }',
    'BEGIN { $1e9 = 1 }',
    'BEGIN { i = 100000000; $i = 1 }',
    'BEGIN { i = 100000000; $ i \\\n = 1 } # at the end',
    'BEGIN { $(10 ^ 8)++ }',
    'BEGIN { ++$(10 ^ 8) }',
    'BEGIN { $10^8 = 1 }',
    'BEGIN { ($100000000) = 1 }',
    'BEGIN { $"1e9x" += 1 }',
    'BEGIN { $0 = "100000000"; $$0 = 1 }',
    'BEGIN { a["k"] = 1e8; $a["k"] = 1 }',
    'function f() { return 1e8 } BEGIN { $f() = 1 }',
    'BEGIN { n = 1e8; gsub(/^/, "x", $n) }',
    'BEGIN { n = 1e8; sub("^", "x", $n) }',
    'BEGIN { NF = 100000000 }',
    'BEGIN { n = 1e8; NF = n; print NF }',
    'BEGIN { n = 5; NF += n * 1e8 }',
    'BEGIN { NF = 2; NF *= 1e8 }',
    'BEGIN { if (NF = 1e8) print }',
    'function helix_field(n) { return n } BEGIN { i = 1e8; $i = 1 }',
    'BEGIN { $(1 / 0 + 10 ^ 400) = 1 }',
  ])('awk makes no field of a huge number: %s', async (program) => {
    const [stdout, stderr, exitCode] = await run(`awk '${program}'`)
    expect([stdout, stderr, exitCode]).toEqual([
      '',
      'awk: ended: a line of more than 20000 fields\n',
      2,
    ])
  })

  test.each([
    ['BEGIN { (NF) = 1e8 }', 'an assignment to (NF) is not here; leave out the parentheses'],
    ['{ getline NF }', 'getline NF is not here'],
    ['{ n = 3; NF = n > 2 ? 2 : 1 }', 'a value of NF with a > behind it needs parentheses here'],
    ['{ print NF = 3 > "f" }', 'a value of NF with a > behind it needs parentheses here'],
  ])('awk says which use of NF is not there: %s', async (program, problem) => {
    expect(await run(`echo a | awk '${program}'`)).toEqual(['', `awk: ${problem}\n`, 2])
  })

  test.each([
    [`echo a b c | awk '{ i = 2; $i = "x"; print }'`, 'a x c\n'],
    [`echo a b c | awk '{ $(NF - 1) = "x"; print; $NF = "y"; print }'`, 'a x c\na x y\n'],
    [`echo 1 2 3 | awk '{ for (i = 1; i <= NF; i++) $i++; print }'`, '2 3 4\n'],
    [`echo 1 2 3 | awk '{ for (i = NF; i > 0; i--) s = s $i " "; print s }'`, '3 2 1 \n'],
    [`echo a b c d | awk '{ NF = NF - 2; print }'`, 'a b\n'],
    [`echo a b c d | awk '{ NF -= 1; print; NF--; print; NF = 1; print }'`, 'a b c\na b\na\n'],
    [`echo a | awk 'NF = 1 { print NF }'`, '1\n'],
    [`echo a | awk '{ n = 3; NF = (n > 2 ? 2 : 1); print NF }'`, '2\n'],
    [`echo aXbX | awk '{ gsub(/X/, "-", $1); print }'`, 'a-b-\n'],
    [`echo 'a/b/c $5 = 3' | awk -F/ '{ n = 4 / 2; print $n / 1, "$9 = 1" }'`, '0 $9 = 1\n'],
    [`echo x | awk '/x/ { print "NF = 100000000; $1e9 = 2" }'`, 'NF = 100000000; $1e9 = 2\n'],
    [
      `awk 'BEGIN { do { i++ } while (i < 5); while (j < 3) j++; for (;;) if (k++ > 3) break; print i, j, k }'`,
      '5 3 5\n',
    ],
    [
      `awk 'function f(n) { if (n <= 1) return 1; return n * f(n - 1) } BEGIN { print f(5) }'`,
      '120\n',
    ],
    [
      `awk 'function f(a, i) { for (i = 1; i < 9; i++) if (i > 3) return i; return 0 } BEGIN { print f() }'`,
      '4\n',
    ],
    [
      `echo 'a b' | awk '{ for (k in x) n++; split($0, x, / /); for (k in x) n++; print n }'`,
      '2\n',
    ],
  ])('awk is otherwise as it was: %s', async (command, expected) => {
    const [stdout] = await run(command)
    expect(stdout).toBe(expected)
  })

  test.each([
    [
      `echo '"a b a"' | jq -c '[gsub("a"; "x"), sub("a"; "x"), test("b")]'`,
      '["x b x","x b a",true]\n',
    ],
    [
      `echo '"aBa"' | jq -c '[scan("a")], [match("b"; "i").offset], (gsub("b"; "c"; "i"))'`,
      '["a","a"]\n[1]\n"aca"\n',
    ],
    [
      `echo '"a-b"' | jq -c '[splits("-")], capture("(?<x>.)-"), "gsub(\\(gsub("-"; "+")))" # gsub('`,
      '["a","b"]\n{"x":"a"}\n"gsub(a+b)"\n',
    ],
    [
      `jq -nc --arg x aa '{test: 1, sub: $x} | .test, .sub, ($x | gsub("a"; "b"))'`,
      '1\n"aa"\n"bb"\n',
    ],
    [`jq -n 'def gsub(a; b): "own"; "x" | gsub("x"; "y")'`, '"own"\n'],
    [`echo 'a: xx' | yq '.a | gsub("x"; "y")'`, 'yy\n'],
  ])('jq is otherwise as it was: %s', async (command, expected) => {
    expect(await run(command)).toEqual([expected, '', 0])
  })

  if (place === 'in a thread') return

  test.each([
    `jq -n 'reduce range(60) as $i ("a"; gsub("a"; "aa")) | length'`,
    `jq -n '"a" * 1000000 | [limit(100; repeat(test("b")))] | length'`,
    `jq -n '"a" * 8000000 | try gsub("a"; "b") catch "caught"'`,
    `echo '"x"' | yq 'reduce range(60) as $i ("a"; sub("a"; "aa"; "g")) | length'`,
  ])('what patterns of jq read counts as steps: %s', async (command) => {
    const [stdout, stderr, exitCode] = await run(command)
    expect([stdout, exitCode === 0]).toEqual(['', false])
    expect(stderr).toMatch(/too many iterations \(\d+\)/)
  })
})
