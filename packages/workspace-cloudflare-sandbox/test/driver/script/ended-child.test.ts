// A command whose end the bash of a container does not notice by itself, run by the bash of this machine.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseReply } from '../../../src/driver/script/reply.ts'
import { runScript } from '../../../src/driver/script/run-script.ts'

const here = process.platform === 'linux'
const note = here ? '' : ' (skipped: needs the bash and the /proc of Linux)'
const NONCE = 'aaaa1111'
/** Far above what such a command takes. */
const LIMIT_MS = 10_000

const bash = (script: string): Promise<string> =>
  new Promise((resolve) => {
    execFile('bash', ['--noprofile', '--norc', '-c', script], (_, stdout) => resolve(stdout))
  })

async function endOf(script: string) {
  const { status, fields } = parseReply(await bash(script), NONCE)
  const [exitCode, timedOut, durationMs] = fields.map(Number)
  return { status, exitCode, timedOut, isQuick: Number(durationMs) < LIMIT_MS }
}

describe.skipIf(!here)(`a command whose end is not noticed${note}`, () => {
  let root: string
  beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'helix-ended-child-'))))
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  function scriptOf(argv: readonly string[], isLive: boolean): string {
    const limits = { timeoutMs: LIMIT_MS, maxOutputBytes: 10, spillDirectory: `${root}/spill` }
    return runScript(
      { root, scratch: `${root}/scratch` },
      { nonce: NONCE, mark: crypto.randomUUID(), slot: 's-1', epoch: '' },
      { argv, cwd: root, env: {}, isLive, ...limits },
    )
  }
  const noticed = { status: 'ended', exitCode: 3, timedOut: 0, isQuick: true }

  describe.each([
    ['with its output at the end', false],
    ['with live output', true],
  ])('%s', (_, isLive) => {
    const script = (): string => scriptOf(['bash', '-c', 'sleep 0.02; exit 3'], isLive)

    it('has ended when there is no such process, whatever kill says', async () => {
      const deaf = 'kill() { [[ $1 == -0 && $2 != -- ]] || builtin kill "$@"; }\n'
      expect(await endOf(deaf + script())).toEqual(noticed)
    })

    it('has ended when only nobody reaps it: bash 5.2 blocks signals at random then', async () => {
      for (let turn = 0; turn < 12; turn += 1) {
        const late = script().replaceAll(/read -r -t \S+/g, 'read -r -t 0.000001')
        expect(await endOf(late)).toEqual(noticed)
      }
    })
  })
})
