import { beforeEach, describe, expect, it } from 'vitest'
import { SampleFleet, TOKEN } from './sample-fleet.ts'

let sample: SampleFleet
beforeEach(() => {
  sample = new SampleFleet()
})

describe('helix fleet terminate', () => {
  it('ends sandboxes and keeps the reason', async () => {
    await sample.add('sb-1')
    const args = ['fleet', 'terminate', 'sb-1', '--reason', 'a busy loop']
    const { code, out } = await sample.host.run(args)
    expect([code, out]).toEqual([0, 'SANDBOX  OUTCOME\nsb-1     destroyed\n'])
    expect((await sample.fleet.get('sb-1')).kill).toMatchObject({ detail: 'a busy loop' })
    expect(await sample.host.json(args)).toEqual({ items: [{ id: 'sb-1', outcome: 'gone' }] })
  })
  it('ends with 1 for one that is owed, and with 3 for one that is not there', async () => {
    await sample.add('sb-1')
    await sample.add('sb-2')
    sample.driver.immortal.add('sb-1')
    expect((await sample.host.run(['fleet', 'terminate', 'sb-1'])).code).toBe(1)
    const { code, out } = await sample.host.run(['fleet', 'terminate', 'nobody', 'sb-2'])
    expect([code, await sample.statusOf('sb-2')]).toEqual([3, 'terminated'])
    expect(out).toMatch(/^sb-2 +destroyed$/m)
  })
  it('ends nothing when one id is none', async () => {
    await sample.add('sb-1')
    expect((await sample.host.run(['fleet', 'terminate', 'sb-1', '..'])).code).toBe(2)
    expect(sample.requests).toEqual([])
  })
})

describe('helix fleet cleanup', () => {
  it('shows what it would do, and does it', async () => {
    await sample.add('sb-1')
    await sample.later(11)
    await sample.add('sb-2')
    const dry = await sample.host.run(['fleet', 'cleanup', '--dry-run'])
    expect([dry.code, await sample.statusOf('sb-1')]).toEqual([0, 'running'])
    expect(dry.out).toMatch(/^sb-1 +destroy \(idle\) +planned +nothing happened for 11 min/m)
    const { code, out, err } = await sample.host.run(['fleet', 'cleanup'])
    expect([code, await sample.statusOf('sb-1')]).toEqual([0, 'terminated'])
    expect(out).toMatch(/^sb-1 +destroy \(idle\) +destroyed/m)
    expect(err).toMatch(/^cleanup: completed; 1 destroyed/)
  })
  it('has nothing to do', async () => {
    const ran = await sample.host.run(['fleet', 'cleanup'])
    expect(ran).toMatchObject({ code: 0, out: '', err: 'cleanup: completed; nothing to do\n' })
  })
  it('ends with 1 for what is owed', async () => {
    await sample.addOwed('sb-1')
    await sample.later(10)
    expect(await sample.host.json(['fleet', 'cleanup'])).toMatchObject({
      items: [{ id: 'sb-1', outcome: 'owed' }],
    })
    await sample.later(10)
    expect((await sample.host.run(['fleet', 'cleanup'])).code).toBe(1)
  })
  it('ends with 1 while another sweeper works', async () => {
    const now = sample.host.clock.now()
    for (const name of ['sweep', 'cleanup', 'sweep:test', 'cleanup:test']) {
      await sample.store.acquireLease({ name, holder: 'another', ttlMs: 60_000, now })
    }
    const { code, err } = await sample.host.run(['fleet', 'cleanup'])
    expect([code, err.includes('lease-held')]).toEqual([1, true])
  })
})

describe('helix fleet emergency', () => {
  const args = ['fleet', 'emergency']
  beforeEach(async () => {
    await sample.add('sb-1')
    await sample.later(3)
  })

  it('asks first, and takes nothing but yes', async () => {
    sample.host.hasPerson = true
    sample.host.input = 'y\n'
    const rejected = await sample.host.run(args)
    expect([rejected.code, await sample.statusOf('sb-1')]).toEqual([1, 'running'])
    expect(rejected.out).toMatch(/^sb-1 +destroy \(emergency\) +planned/m)
    expect(rejected.err).toContain('End 1 sandboxes, in use or not? Type yes: ')
    sample.host.input = 'yes\n'
    expect([(await sample.host.run(args)).code, await sample.statusOf('sb-1')]).toEqual([
      0,
      'terminated',
    ])
  })
  it('does not ask with --yes, nor for a dry run', async () => {
    expect((await sample.host.run([...args, '--dry-run'])).code).toBe(0)
    expect(await sample.statusOf('sb-1')).toBe('running')
    expect((await sample.host.run([...args, '--yes'])).code).toBe(0)
    expect(await sample.statusOf('sb-1')).toBe('terminated')
  })
  it('ends nothing where there is nobody to ask', async () => {
    expect(await sample.host.run(args)).toMatchObject({ code: 2, out: '' })
    sample.host.hasPerson = true
    sample.host.input = TOKEN
    expect((await sample.host.run([...args, '--token-file', '-'])).code).toBe(2)
    expect(sample.requests).toEqual([])
  })
})

describe('helix fleet reconcile', () => {
  it('heals records and tells orphans', async () => {
    await sample.add('sb-1')
    await sample.later(11)
    sample.driver.present.delete('sb-1')
    const dry = await sample.host.json(['fleet', 'reconcile', '--dry-run'])
    expect(dry).toMatchObject({ items: [{ id: 'sb-1', outcome: 'planned' }] })
    const { code, out } = await sample.host.run(['fleet', 'reconcile'])
    expect([code, await sample.statusOf('sb-1')]).toEqual([0, 'terminated'])
    expect(out).toMatch(/^sb-1 +record that it is gone +healed/m)
  })
  it('ends with 1 when a list was rejected', async () => {
    sample.driver.isListComplete = false
    const { code, out } = await sample.host.run(['fleet', 'reconcile'])
    expect([code, out.startsWith('sample: its list was partial')]).toEqual([1, true])
  })
})

it('an emergency with nothing to end asks nothing', async () => {
  sample.host.hasPerson = true
  sample.host.input = 'no\n'
  const { code, err } = await sample.host.run(['fleet', 'emergency'])
  expect(code).toBe(0)
  expect(err).toContain('nothing to do')
  expect(err).not.toContain('Type yes')
  expect(sample.requests).toHaveLength(1)
})
