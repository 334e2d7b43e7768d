import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { TestSampler } from '@helix-agents/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AgentPermissions } from '../../src/permissions/agent-permissions.ts'
import { bypasses } from '../modules/shell/bypass-corpus.ts'

// Lines are run by real shells in which `curl` is a program that leaves a mark: whatever runs it must
// match the rule. They are run by nobody when this process is root, in a directory that cannot be
// written; they name no path, and no program is there but those that start others.
const sampler = new TestSampler()
const permissions = new AgentPermissions([{ decision: 'deny', command: 'curl *' }])
const RUN = { name: 'run', hasCommand: true, hasPaths: false }
const decide = (command: string) => permissions.decide(RUN, { toolName: 'run', command }).decision

const NOBODY = 65_534
const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
const STARTERS = ['env', 'xargs', 'timeout', 'nice', 'cat', 'sh', 'bash', 'find', 'nohup']

let root: string
beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'helix-lines-'))
  chmodSync(root, 0o755)
  for (const name of ['bin', 'cwd', 'marks']) mkdirSync(path.join(root, name))
  // Scripts, not links: a line that redirects into one must not reach the program behind it.
  for (const name of STARTERS) install(name, `exec ${pathOf(name)} "$@"`)
  for (const name of ['curl', 'id', 'rm']) install(name, `: > '${root}/marks/ran'`)
  chmodSync(path.join(root, 'bin'), 0o555)
  chmodSync(path.join(root, 'cwd'), 0o555)
  chmodSync(path.join(root, 'marks'), 0o777)
})
afterAll(() => {
  for (const name of ['bin', 'cwd']) chmodSync(path.join(root, name), 0o755)
  rmSync(root, { recursive: true, force: true })
})

function install(name: string, script: string): void {
  writeFileSync(path.join(root, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o555 })
}

function pathOf(name: string): string {
  return spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim()
}

/** Those of the lines that ran the program, background processes included. */
function linesThatRan(shell: string, lines: readonly string[]): string[] {
  const unsafe = lines.filter((line) => /[/\0]|kill|ulimit/.test(line))
  expect(unsafe).toEqual([])
  const driver = `
    i=0
    while IFS= read -r -d '' line; do
      rm -f '${root}/marks/ran'
      out=$(env -i PATH='${root}/bin' "$2" 1 "$1" -c "$line" </dev/null 2>&1)
      [ -e '${root}/marks/ran' ] && echo "$i"
      i=$((i + 1))
    done
    echo "$i lines"`
  const args = ['-c', driver, 'driver', pathOf(shell), pathOf('timeout')]
  const result = spawnSync('bash', args, {
    ...identity,
    cwd: path.join(root, 'cwd'),
    input: lines.map((line) => `${line}\0`).join(''),
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  })
  // Every line had its turn.
  const output = result.stdout.split('\n').slice(0, -1)
  expect(output.pop()).toBe(`${lines.length} lines`)
  return output.map((index) => lines[Number(index)]!)
}

const PIECES = [
  'curl', 'cu', 'rl', 'c"u"rl', "'curl'", 'cur\\l', '\\\n', 'x', 'A', 'A=curl', '=', '1', 'echo', '-c',
  ' ', ' ', ' ', ' ', ';', '\n', '&', '&&', '||', '|', '(', ')', '{ ', ' }', '$', '$A', '${A}', '$(', '`',
  "'", '"', '\\', '#', ' # ', '<', '>', '2>', '>&2 ', '<<', '<<<', '&>', '!', '*', '?', '[', ']', '~', ',',
  'if ', ' then ', ' fi', 'while ', ' do ', ' done', 'true', 'false', 'env ', 'eval ', 'exec ', 'command ',
  'builtin ', 'xargs ', 'timeout 3 ', 'nice ', 'nohup ', 'sh -c ', 'bash -c ', 'bash -ec ', '| sh', 'time ',
  'for A in curl', 'case x in x) ', ';;', ' esac', 'f() ', 'alias ', 'trap ', ' EXIT', 'PATH=', 'cat ', '\t',
] // prettier-ignore

function makeLines(count: number): string[] {
  const random = sampler.random('hostile lines')
  const pick = (): string => PIECES[Math.floor(random() * PIECES.length)] ?? ''
  return Array.from({ length: count }, () => {
    const before = Array.from({ length: Math.floor(random() * 5) }, pick).join('')
    const after = Array.from({ length: Math.floor(random() * 4) }, pick).join('')
    const core = random() < 0.6 ? 'curl' : pick()
    return `${before}${core}${after}`
  })
}

const shells = ['bash', 'dash'].filter((shell) => pathOf(shell) !== '')

test.each(shells)(
  'whatever makes %s run a program matches the rule on it',
  (shell) => {
    const made = makeLines(sampler.size(40_000, 4000))
    // Only what the rule lets through is worth a process; lines without the letters can run nothing.
    const passing = [...new Set(made)].filter(
      (line) => decide(line) === 'allow' && /c.*u.*r.*l/s.test(line),
    )
    expect(passing.length).toBeGreaterThan(20)
    // The lines are random: the first ones are a sample.
    const sample = passing.slice(0, sampler.size(2000, 60))
    expect(linesThatRan(shell, sample)).toEqual([])
  },
  120_000,
)

test.each(shells)('%s runs the program in lines that the rule matches', (shell) => {
  const lines = [
    'curl x',
    'cu\\\nrl',
    'echo a; "cu"rl',
    'env A=1 curl',
    'true && (curl)',
    'curl & true',
  ]
  expect(linesThatRan(shell, lines)).toEqual(lines)
  expect(lines.map(decide)).toEqual(lines.map(() => 'deny'))
})

test('no line that gets around an allowlist gets around a rule on what it runs', () => {
  // The corpus smuggles `id` and `rm` in.
  const rules = new AgentPermissions([
    { decision: 'deny', command: 'id *' },
    { decision: 'deny', command: 'rm *' },
  ])
  const lines = bypasses.map(({ line }) => line).filter((line) => !/[/\0]/.test(line))
  const ran = linesThatRan('bash', sampler.pick('corpus', lines, 80))
  // Few of the corpus run at all: a sample may have none of them.
  expect(ran.length).toBeGreaterThanOrEqual(sampler.size(2, 0))
  const passed = ran.filter(
    (command) => rules.decide(RUN, { toolName: 'run', command }).decision !== 'deny',
  )
  expect(passed).toEqual([])
})
