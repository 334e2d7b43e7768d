// The help of every command, to the letter: what people read first.
import { expect, it } from 'vitest'
import { TestHost } from './test-host.ts'

const COMMANDS = {
  '': ['init', 'sessions', 'approvals', 'snapshots', 'healthz', 'fleet', 'reap', 'worker'],
  sessions: ['list', 'show', 'diff', 'rewind', 'branch'],
  approvals: ['list', 'show', 'approve', 'deny'],
  snapshots: ['list', 'show', 'diff', 'export', 'import', 'verify', 'gc'],
  fleet: ['stats', 'list', 'show', 'logs', 'terminate', 'cleanup', 'emergency', 'reconcile'],
}

it.each(Object.entries(COMMANDS))('helix %s', async (group, names) => {
  const texts = []
  for (const name of ['', ...names]) {
    const command = [group, name].filter((word) => word !== '')
    const { code, out, err } = await new TestHost().run(['help', ...command], { columns: 100 })
    expect([code, err]).toEqual([0, ''])
    texts.push(`=== helix help ${command.join(' ')}\n${out}`)
  }
  await expect(texts.join('\n')).toMatchFileSnapshot(`help/${group || 'helix'}.txt`)
})
