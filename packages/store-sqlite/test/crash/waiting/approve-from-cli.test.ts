// A session asks, everything is killed, `helix` of another process answers, and a third one goes on.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { SessionRequest } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import { findingsOf } from './judge-waiting.ts'
import { openLab, run, taskIn } from './waiting-lab.ts'
import { ALLOWED, ANSWERS, SESSION } from './waiting-session.ts'

const execute = promisify(execFile)
const HELIX = [
  '--conditions=@helix-agents/source',
  join(import.meta.dirname, '../../../../cli/src/bin.ts'),
]

async function helix(...args: readonly string[]): Promise<string> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const env = { PATH, NODE_NO_WARNINGS: '1', ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) }
  return (await execute(process.execPath, [...HELIX, ...args], { env })).stdout
}

test('helix approvals answers a session that no process has', { timeout: 120_000 }, async () => {
  const lab = await openLab()
  const task = { ...taskIn(lab, 'cli'), isAlone: true }
  const decided: string[] = []
  for (let turn = 0; (await run(lab.child, task)).signal === 'SIGKILL'; turn += 1) {
    if (turn > 5) throw new Error('it does not end')
    const listed = await helix('approvals', 'list', '--json', '--db', task.database)
    const { items } = JSON.parse(listed) as { readonly items: readonly SessionRequest[] }
    for (const { requestId, arguments: asked } of items) {
      const { id } = JSON.parse(asked) as { readonly id: string }
      const decision = ANSWERS[id]?.decision === 'deny' ? 'deny' : 'approve'
      decided.push(await helix('approvals', decision, SESSION, requestId, '--db', task.database))
    }
  }
  expect(decided).toHaveLength(4)
  const { effects } = await findingsOf(task)
  const asAsked = ALLOWED.map((id) => (id === 'as edited' ? 'edited' : id))
  expect(effects.toSorted()).toEqual(asAsked.toSorted())
})
