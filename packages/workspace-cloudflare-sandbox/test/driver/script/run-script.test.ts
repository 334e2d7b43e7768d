import { describe, expect, it } from 'vitest'
import { runScript } from '../../../src/driver/script/run-script.ts'
import { startScript } from '../../../src/driver/script/process-scripts.ts'

const settings = { root: '/workspace', scratch: '/var/tmp/.helix' }
const NONCE = 'aaaa1111'
const command = { cwd: '/', env: { GIVEN: 'g' }, argv: ['true'] }

/** What runs in the process that becomes the command. */
function childOf(script: string): string {
  const [, child = ''] = /\n\(\n([\s\S]*?)\n\)/.exec(script) ?? []
  return child
}

describe('the proof of an answer', () => {
  it('is in no environment of a command', () => {
    const names = { nonce: NONCE, mark: 'bbbb2222', slot: 's-1', epoch: '' }
    const limits = { maxOutputBytes: 1, spillDirectory: '/x', isLive: false, maxChannelBytes: 1 }
    const script = runScript(settings, names, { ...command, ...limits })
    expect(script).toContain(NONCE)
    expect(childOf(script)).toContain('HELIX_WS_PROCESS=bbbb2222')
    expect(childOf(script)).not.toContain(NONCE)
  })

  it('nor in that of a process', () => {
    const request = { ...command, id: 'cccc3333', title: 'true' }
    const script = startScript(settings, { nonce: NONCE, epoch: '' }, request)
    expect(script).toContain(NONCE)
    expect(childOf(script)).toContain('GIVEN')
    expect(childOf(script)).not.toContain(NONCE)
  })
})
