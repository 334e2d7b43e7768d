import { describe, expect, test } from 'vitest'
import { MINUTE_MS, setup } from './harness.ts'

describe('what the runbook asks', () => {
  test('the numbers', async () => {
    const { addLeaked, ask } = setup()
    await addLeaked('sandbox_123')
    const response = await ask('/api/sandbox/stats')
    expect(response.status).toBe(200)
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    expect(await response.json()).toMatchObject({
      active: 1,
      provisioning: 0,
      running: 1,
      terminating: 0,
      total_created: 1,
      total_destroyed: 0,
      max_concurrent: 10,
      usage: 0.1,
      environment: 'test',
    })
  })

  test('the list, with the age and what is the matter', async () => {
    const { addLeaked, ask, clock } = setup()
    await addLeaked('sandbox_123')
    await clock.advance(45 * MINUTE_MS)
    const list = await (await ask('/api/sandbox/list')).json()
    expect(list).toMatchObject([
      {
        id: 'sandbox_123',
        status: 'running',
        created_at: '2026-01-01T00:00:00.000Z',
        age_minutes: 45,
        agent_type: 'implementation',
        task_id: null,
        findings: [{ code: 'stuck', severity: 'critical' }],
      },
    ])
  })

  test('one sandbox, its logs and what it uses', async () => {
    const { addLeaked, ask } = setup()
    await addLeaked('sandbox_123')
    const detail = await (await ask('/api/sandbox/sandbox_123')).json()
    expect(detail).toMatchObject({ id: 'sandbox_123', history: expect.any(Array) })
    expect(await (await ask('/api/sandbox/sandbox_123/logs')).json()).toEqual({
      id: 'sandbox_123',
      lines: ['first', 'second'],
      is_cut: false,
    })
    expect(await (await ask('/api/sandbox/sandbox_123/resources')).json()).toMatchObject({
      cpu_percent: 95,
      memory_mb: 120,
      operations: 0,
    })
  })

  test('ending one: confirmed, then gone, and its reason recorded', async () => {
    const { addLeaked, ask, driver, store } = setup()
    await addLeaked('sandbox_123')
    const path = '/api/sandbox/sandbox_123?reason=told%20by%20the%20user'
    const first = await ask(path, { method: 'DELETE' })
    expect([first.status, await first.json()]).toEqual([
      200,
      { id: 'sandbox_123', outcome: 'destroyed' },
    ])
    expect(driver.sandboxes.size).toBe(0)
    const again = await ask(path, { method: 'DELETE' })
    expect(await again.json()).toEqual({ id: 'sandbox_123', outcome: 'gone' })
    expect((await store.get('sandbox_123'))?.kill).toMatchObject({
      by: 'operator',
      reason: 'operator',
      detail: 'told by the user',
    })
  })

  test('a destroy that fails is owed, never reported as done, and tells no secret', async () => {
    const { addLeaked, ask, driver } = setup()
    await addLeaked('sandbox_123')
    driver.destroyFails = true
    const response = await ask('/api/sandbox/sandbox_123', { method: 'DELETE' })
    expect(response.status).toBe(202)
    expect(await response.json()).toEqual({ id: 'sandbox_123', outcome: 'owed' })
    const shown = await (await ask('/api/sandbox/sandbox_123')).text()
    expect(JSON.parse(shown)).toMatchObject({ status: 'terminating', owed: { attempts: 1 } })
    expect(shown).not.toContain('secret-key-123')
  })

  test('ending one many times at once has one effect', async () => {
    const { addLeaked, ask } = setup()
    await addLeaked('sandbox_123')
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const response = await ask('/api/sandbox/sandbox_123', { method: 'DELETE' })
        return ((await response.json()) as { outcome: string }).outcome
      }),
    )
    expect(answers.filter((outcome) => outcome === 'destroyed')).toHaveLength(1)
    expect(new Set(answers)).not.toContain('owed')
    expect(await (await ask('/api/sandbox/stats')).json()).toMatchObject({ total_destroyed: 1 })
  })

  test('cleanup plans first, then does as planned', async () => {
    const { addLeaked, ask, clock, driver } = setup()
    await addLeaked('leaked')
    await clock.advance(30 * MINUTE_MS)
    await addLeaked('young')
    const plan = await (await ask('/api/sandbox/cleanup?dry_run=true', { method: 'POST' })).json()
    expect(plan).toMatchObject({
      pass: 'cleanup',
      dry_run: true,
      outcome: 'completed',
      items: [{ id: 'leaked', outcome: 'planned' }],
    })
    expect(driver.sandboxes.size).toBe(2)
    const pass = await (await ask('/api/sandbox/cleanup', { method: 'POST' })).json()
    expect(pass).toMatchObject({ dry_run: false, items: [{ id: 'leaked', outcome: 'destroyed' }] })
    expect([...driver.sandboxes.keys()]).toEqual(['young'])
  })

  test('an emergency spares what is critical', async () => {
    const { addLeaked, ask, clock, driver } = setup()
    await addLeaked('plain')
    await addLeaked('needed', { critical: true })
    await clock.advance(5 * MINUTE_MS)
    const pass = await (await ask('/api/sandbox/cleanup/emergency', { method: 'POST' })).json()
    expect(pass).toMatchObject({ pass: 'emergency', spared: { critical: 1 } })
    expect([...driver.sandboxes.keys()]).toEqual(['needed'])
  })

  test('reconciling records what is gone', async () => {
    const { addLeaked, ask, clock, driver } = setup()
    await addLeaked('vanished')
    driver.sandboxes.clear()
    await clock.advance(5 * MINUTE_MS)
    const pass = await (await ask('/api/sandbox/reconcile', { method: 'POST' })).json()
    expect(pass).toMatchObject({
      pass: 'reconcile',
      items: [{ id: 'vanished', outcome: 'healed' }],
    })
    const shown = await (await ask('/api/sandbox/vanished')).json()
    expect(shown).toMatchObject({ status: 'terminated' })
  })

  test('numbers for Prometheus', async () => {
    const { addLeaked, ask } = setup()
    await addLeaked('one')
    const response = await ask('/metrics')
    expect(response.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(await response.text()).toMatch(/^helix_fleet_active\{environment="test"\} 1$/m)
  })
})

describe('pages', () => {
  test('the Link header leads through all of them, once each', async () => {
    const { addLeaked, ask } = setup()
    const ids = Array.from({ length: 7 }, (_, index) => `box-${index}`)
    for (const id of ids) await addLeaked(id)
    const seen: string[] = []
    let path: string | undefined = '/api/sandbox/list?limit=3'
    while (path !== undefined) {
      const response: Response = await ask(path)
      seen.push(...((await response.json()) as { id: string }[]).map(({ id }) => id))
      path = /<(?<next>[^>]+)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.groups?.next
    }
    expect(seen.toSorted()).toEqual(ids)
  })

  test('filters', async () => {
    const { addLeaked, ask } = setup()
    await addLeaked('one')
    await addLeaked('two')
    await ask('/api/sandbox/one', { method: 'DELETE' })
    const ids = async (query: string): Promise<readonly string[]> => {
      const list = (await (await ask(`/api/sandbox/list?${query}`)).json()) as { id: string }[]
      return list.map(({ id }) => id)
    }
    expect(await ids('')).toEqual(['two'])
    expect(await ids('status=terminated')).toEqual(['one'])
    expect(await ids('status=all')).toHaveLength(2)
    expect(await ids('agent_type=other')).toEqual([])
    expect(await ids('older_than_minutes=1')).toEqual([])
  })
})

test('the OpenAPI document names every route of the API', async () => {
  const { ask } = setup()
  const document = (await (await ask('/openapi.json')).json()) as { paths: object }
  expect(Object.keys(document.paths).toSorted()).toEqual([
    '/api/sandbox/cleanup',
    '/api/sandbox/cleanup/emergency',
    '/api/sandbox/list',
    '/api/sandbox/reconcile',
    '/api/sandbox/stats',
    '/api/sandbox/{id}',
    '/api/sandbox/{id}/logs',
    '/api/sandbox/{id}/resources',
  ])
})
