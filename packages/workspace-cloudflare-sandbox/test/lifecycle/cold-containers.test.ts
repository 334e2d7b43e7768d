import { readText } from '@helix-agents/core'
import { describe, expect, test } from 'vitest'
import { Bench, codeOf, payloadOf } from '../double/open-on-double.ts'

const backups = { backupR2Binding: 'BACKUP_BUCKET' } as const

describe('a container that slept', () => {
  test('is found before an operation acts, in the middle of a session', async () => {
    const bench = new Bench()
    const { ws } = await bench.open()
    await ws.fs!.writeFile('/a', 'x')
    bench.world.sleep()
    const error = await ws.fs!.writeFile('/b', 'y').catch((each: unknown) => each)
    expect(error).toMatchObject({ name: 'WorkspaceEvictedError', code: 'evicted', admitted: 'no' })
    expect(await codeOf(ws.shell!.run('ls'))).toBe('evicted')
    expect(await codeOf(ws.code!.runCode('python', '1'))).toBe('evicted')
    expect(await codeOf(ws.shell!.list!())).toBe('evicted')
  })

  test('a command that ran in another one is not taken for its own', async () => {
    const bench = new Bench()
    const { ws } = await bench.open()
    for (const container of bench.world.containers.values()) {
      bench.world.onCall = ({ name }) => {
        if (name === 'exec') container.epoch = 'another'
      }
    }
    expect(await codeOf(ws.shell!.run('ls'))).toBe('evicted')
  })

  test('is lost at the next resolve, and the open behind it says when it was last seen', async () => {
    const bench = new Bench()
    const { ref } = await bench.open()
    bench.world.sleep()
    expect(await codeOf(bench.resolve(ref))).toBe('lost')
    const { receipt } = await bench.open()
    expect(receipt.outcome).toBe('cold')
    expect(receipt.detail).toContain(new Date(bench.clock.now()).toISOString())
  })

  test('is not started only to see that its disk is gone', async () => {
    const bench = new Bench()
    const { ref } = await bench.open()
    bench.world.sleep()
    bench.restart()
    expect(await codeOf(bench.resolve(ref))).toBe('lost')
    expect(bench.world.starts).toBe(1)
  })

  test('that was replaced while it ran is lost as well, and told once', async () => {
    const bench = new Bench()
    const { ref } = await bench.open()
    for (const container of bench.world.containers.values()) container.epoch = 'another'
    expect(await codeOf(bench.resolve(ref))).toBe('lost')
    expect((await bench.open()).receipt.outcome).toBe('cold')
    expect((await bench.open()).receipt.outcome).toBe('reattached')
  })

  test('a crash between the loss and the open loses no notice', async () => {
    const bench = new Bench()
    const { ref } = await bench.open()
    for (const container of bench.world.containers.values()) container.epoch = 'another'
    expect(await codeOf(bench.resolve(ref))).toBe('lost')
    bench.restart()
    expect(await codeOf(bench.resolve(ref))).toBe('lost')
    expect((await bench.open()).receipt.outcome).toBe('cold')
  })
})

describe('autoRestore', () => {
  test('brings the last snapshot back, exactly, and says so', async () => {
    const bench = new Bench({ ...backups, autoRestore: true })
    const { ws } = await bench.open()
    await ws.fs!.writeFile('/a', 'kept')
    await ws.snapshot!.snapshot()
    await ws.fs!.writeFile('/later', 'lost')
    const stored = ws.changedRef!
    bench.world.sleep()
    const again = await bench.resolve(stored)
    expect(again.receipt.outcome).toBe('restored')
    expect(await readText(again.ws.fs!, '/a')).toBe('kept')
    expect(await again.ws.fs!.glob('**')).toEqual(['/a'])
    expect(payloadOf(again.ref).epoch).not.toBe(payloadOf(stored).epoch)
    expect((await bench.resolve(again.ref)).receipt.outcome).toBe('reattached')
  })

  test('without a snapshot there is nothing to bring back', async () => {
    const bench = new Bench({ ...backups, autoRestore: true })
    const { ref } = await bench.open()
    bench.world.sleep()
    expect(await codeOf(bench.resolve(ref))).toBe('lost')
  })

  test('a snapshot that is gone is a loss, not a failure', async () => {
    const bench = new Bench({ ...backups, autoRestore: true })
    const { ws } = await bench.open()
    await ws.snapshot!.snapshot()
    bench.world.backups.clear()
    bench.world.sleep()
    expect(await codeOf(bench.resolve(ws.changedRef!))).toBe('lost')
    expect((await bench.open()).receipt.outcome).toBe('cold')
  })

  test('the ref keeps no snapshot unless it is declared', async () => {
    const bench = new Bench(backups)
    const { ws } = await bench.open()
    await ws.snapshot!.snapshot()
    expect(ws.changedRef).toBeUndefined()
  })
})

describe('a workspace on a mount', () => {
  const mounts = [{ bucket: 'FILES', path: '/workspace' }]

  test('outlives the container: mounted again, and nothing is told', async () => {
    const bench = new Bench({ mounts })
    const { ref } = await bench.open()
    bench.world.sleep()
    const again = await bench.resolve(ref)
    expect(again.receipt.outcome).toBe('reattached')
    const [container] = bench.world.containers.values()
    expect(container?.mounts).toMatchObject([
      {
        bucket: 'FILES',
        path: '/workspace',
        prefix: expect.stringMatching(/^\/helix\/[a-z2-7]{32}$/),
      },
    ])
  })

  test('each session has its own files in the bucket', async () => {
    const bench = new Bench({ mounts })
    await bench.open({ sessionId: 'session-1' })
    await bench.open({ sessionId: 'session-2' })
    const prefixes = [...bench.world.containers.values()].map(({ mounts: [one] }) => one?.prefix)
    expect(new Set(prefixes).size).toBe(2)
  })

  test('what is kept below the root is named in the notice', async () => {
    const bench = new Bench({ mounts: [{ bucket: 'FILES', path: '/workspace/data' }] })
    const { ref } = await bench.open()
    bench.world.sleep()
    expect(await codeOf(bench.resolve(ref))).toBe('lost')
    expect((await bench.open()).receipt.detail).toContain('Files below /data are kept.')
  })

  test('a container that was left half prepared is mounted before it is used', async () => {
    const bench = new Bench({ mounts })
    bench.world.onCall = ({ name }) => {
      if (name === 'mount') throw new Error('crash')
    }
    await expect(bench.open()).rejects.toThrow('crash')
    bench.world.onCall = () => {}
    bench.restart()
    const { receipt } = await bench.open()
    expect(receipt.outcome).toBe('reattached')
    expect([...bench.world.containers.values()].map((one) => one.mounts.length)).toEqual([1])
  })
})
