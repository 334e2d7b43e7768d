// The functions that end a command, run by the bash of a container, in a tree that was made for them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxTestbed } from '@helix-agents/sandbox-testbed'
import { quoteWord } from '@helix-agents/core/provider'
import { SCRIPTS } from '../../../src/driver/script/scripts.generated.ts'
import { whyNoTestbed } from '../worker/availability.ts'
import { drive, ENSURE, line, startDriverTestbed, stdoutOf } from '../worker/drive.ts'

const reason = await whyNoTestbed()
/** Seconds that no other process of this machine sleeps: it is looked for in all of them. */
const LONG = '300.7431'
/** As a pattern that is not found in the words of the program that looks for it. */
const LONG_PATTERN = LONG.replace('.', '[.]')

/** Shells in shells; each would say so if it went on when what it waits for is gone. */
function nested(depth: number): string {
  let command = `sleep ${LONG}`
  for (let at = 0; at < depth; at += 1)
    command = `bash -c ${quoteWord(command)}; echo went on >>/tmp/on`
  return command
}

/** @param grace Milliseconds between asking and killing; long where all obey, on a busy machine too. */
function ending(command: string, grace: number): string {
  return `rm -f /tmp/on; : >/tmp/o >/tmp/e
set -m; bash -c ${quoteWord(command)} </dev/null >/tmp/o 2>/tmp/e & p=$!; set +m
n=none o=/tmp/o e=/tmp/e
until (($(grep -lzx '${LONG_PATTERN}' /proc/[0-9]*/cmdline 2>/dev/null | wc -l))); do sleep 0.01; done
# Slow enough for whoever was not stopped to go on.
kill() { builtin kill "$@"; sleep 0.05; }
${SCRIPTS.tree}
stop ${grace}
[[ -e /tmp/on ]] && cat /tmp/on
wait "$p"; echo "$?"; members; echo "\${#m[@]} left"`
}

describe.skipIf(reason !== undefined)('ending a command', () => {
  let testbed: SandboxTestbed
  beforeAll(async () => void (testbed = await startDriverTestbed()), 180_000)
  afterAll(() => testbed.stop())
  const run = async (command: string): Promise<string> => {
    const [, result] = await drive(testbed, 'tree', [ENSURE, line(command, { timeoutMs: 60_000 })])
    return stdoutOf(result)
  }

  it('never lets it go on with its next command, however slow the signals are', async () => {
    expect(await run(ending(nested(6), 30_000))).toBe('143\n0 left\n')
  }, 120_000)

  it('nor when it has to be killed', async () => {
    const deaf = `trap '' TERM; ${nested(3)}`
    expect(await run(ending(deaf, 200))).toBe('137\n0 left\n')
  }, 120_000)

  it('lets it clean up', async () => {
    const clean = `trap 'echo cleaned >>/tmp/on; exit 7' TERM; sleep ${LONG} & wait`
    expect(await run(ending(clean, 30_000))).toBe('cleaned\n7\n0 left\n')
  }, 120_000)
})
