import { expect, it } from 'vitest'
import { events, failure } from '../support/client.ts'
import { ALONE, describeServer } from '../support/fixture.ts'

describeServer('watch', (fixture) => {
  const shell = (command: string) => fixture.client.root.commands.execute(command, ALONE)
  const check = (request: object) =>
    fixture.client.root.watch.checkChanges({ path: '/workspace', sessionId: ALONE, ...request })

  it('tells creations, changes, moves and removals', async () => {
    await shell('mkdir watched; cd watched; touch moved removed changed last')
    const stream = await fixture.client.root.watch.watch({ path: 'watched', sessionId: ALONE })
    const work =
      'cd watched; mv moved new-name; rm removed; echo x > changed; mkdir made; chmod 600 last'
    const working = shell(work)
    const found = await events(stream, (event) => event.eventType === 'attrib')
    await working
    expect(found[0]).toMatchObject({ type: 'watching', path: '/workspace/watched' })
    const told = found.slice(1).map(({ eventType, path }) => `${eventType} ${path}`)
    expect(told.toSorted()).toEqual([
      'attrib /workspace/watched/last',
      'create /workspace/watched/made',
      'delete /workspace/watched/removed',
      'modify /workspace/watched/changed',
      'move_from /workspace/watched/moved',
      'move_to /workspace/watched/new-name',
    ])
  })

  it('checks changes since a version', async () => {
    const { version } = await check({})
    expect(await check({ since: version })).toMatchObject({ status: 'unchanged', version })
    await shell('echo more > new-file')
    const changed = await check({ since: version })
    expect(changed.status).toBe('changed')
    expect(await check({ since: changed.version })).toMatchObject({ status: 'unchanged' })
  })

  it('asks for a resync after a restart and for a version it never gave', async () => {
    const { version } = await check({})
    expect(await check({ since: 'another:1' })).toMatchObject({
      status: 'resync',
      reason: 'restarted',
    })
    expect(await check({ since: `${version}000` })).toMatchObject({
      status: 'resync',
      reason: 'expired',
    })
  })

  it('looks away from what is excluded, by default from git and node_modules', async () => {
    const { version } = await check({})
    await shell('mkdir -p .git node_modules; touch .git/x node_modules/y')
    expect((await check({ since: version })).status).toBe('unchanged')
  })

  it('refuses a missing path and both kinds of patterns at once', async () => {
    expect((await failure(check({ path: '/nowhere' }))).code).toBe('FILE_NOT_FOUND')
    const both = { include: ['*.ts'], exclude: ['*.js'] }
    expect((await failure(check(both))).code).toBe('VALIDATION_FAILED')
  })
})
