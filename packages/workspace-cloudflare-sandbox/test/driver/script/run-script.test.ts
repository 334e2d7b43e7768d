import { describe, expect, it } from 'vitest'
import { runScript } from '../../../src/driver/script/run-script.ts'
import { sayFunction } from '../../../src/driver/script/reply.ts'
import { startScript } from '../../../src/driver/script/process-scripts.ts'

const settings = { root: '/workspace', scratch: '/var/tmp/.helix' }
const NONCE = 'aaaa1111'
const command = { cwd: '/', env: { GIVEN: 'g' }, argv: ['true'] }

/** Lines of a script that name the proof. */
const linesWithNonce = (script: string): readonly string[] =>
  script.split('\n').filter((line) => line.includes(NONCE))

describe('the proof of an answer', () => {
  it('is in the function that answers alone, which no command inherits', () => {
    const names = { nonce: NONCE, mark: 'bbbb2222', slot: 's-1', epoch: '' }
    const limits = { maxOutputBytes: 1, spillDirectory: '/x', isLive: false, maxChannelBytes: 1 }
    const run = runScript(settings, names, { ...command, ...limits })
    expect(run).toContain('HELIX_WS_PROCESS=bbbb2222')
    expect(linesWithNonce(run)).toEqual([sayFunction(NONCE)])
    const request = { ...command, id: 'cccc3333', title: 'true' }
    const start = startScript(settings, { nonce: NONCE, epoch: '' }, request)
    expect(start).toContain('GIVEN=g')
    expect(linesWithNonce(start)).toEqual([sayFunction(NONCE)])
  })
})
