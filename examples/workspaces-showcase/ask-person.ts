import type { RequestResponse } from '@helix-agents/runtime-js'
import type { SessionRequest } from '@helix-agents/core/runtime'
import { paint } from './narrator.ts'

const APPROVE = new Set(['y', 'Y', '\r', '\n'])
const DENY = new Set(['n', 'N', '\u001B'])
const CTRL_C = '\u0003'

/** What the user says about a call that waits: one key on a terminal. Without one a script approves. */
export async function askPerson({ preview }: SessionRequest): Promise<RequestResponse> {
  console.log(`\n${paint('yellow', 'waits')}  ${preview.title}`)
  if (!process.stdin.isTTY) {
    console.log('no terminal: the script of the demo approves')
    return { decision: 'approve', by: 'script' }
  }
  console.log('the run has ended, nothing is kept in memory. Approve? y or Enter: yes, n: no')
  const isApproved = await readKey()
  return { decision: isApproved ? 'approve' : 'deny', by: 'terminal' }
}

function readKey(): Promise<boolean> {
  const { stdin } = process
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  return new Promise((resolve) => {
    const onKey = (key: string): void => {
      if (key === CTRL_C) process.exit(130)
      if (!APPROVE.has(key) && !DENY.has(key)) return
      stdin.off('data', onKey)
      stdin.setRawMode(false)
      stdin.pause()
      resolve(APPROVE.has(key))
    }
    stdin.on('data', onKey)
    stdin.resume()
  })
}
