import { chmodSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Image, prepareImage } from '../../src/root/image.ts'

let place: string
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'helix-programs-'))
  chmodSync(place, 0o711)
  vi.stubEnv('HELIX_TESTBED_CACHE', join(place, 'cache'))
})
afterEach(() => rmSync(place, { recursive: true }))

/** Where the programs of an image are. */
function programsOf({ mounts }: Image): string {
  const mount = (path: string) =>
    mounts.flatMap((one) => ('source' in one && one.target === path ? [one.source] : []))[0]
  return mount('/usr/bin') ?? join(mount('/usr') ?? '', 'bin')
}

const prepare = (name: string, kind?: 'python') =>
  programsOf(prepareImage(join(place, name), join(place, 'server.mjs'), kind))

describe('the program folders of containers', () => {
  it('are made once for all test beds that name a cache', () => {
    const [one, other] = [prepare('one'), prepare('other')]
    expect(one).toBe(other)
    expect(readdirSync(join(place, 'cache'))).toHaveLength(1)
    expect(readlinkSync(join(one, 'bash'))).toBe('/.host/usr/bin/bash')
    expect(statSync(join(one, 'unsquashfs')).mode & 0o777).toBe(0o755)
    expect(statSync(one).mode & 0o777).toBe(0o755)
  })

  it('are others where there is Python', () => {
    expect(prepare('one')).not.toBe(prepare('other', 'python'))
  })

  it('are their own without a cache, and have the same in them', () => {
    const shared = prepare('one')
    vi.stubEnv('HELIX_TESTBED_CACHE', undefined)
    const own = prepare('other')
    expect(own).toBe(join(place, 'other/usr/bin'))
    expect(readdirSync(own)).toEqual(readdirSync(shared))
  })

  it.runIf(process.getuid?.() === 0)('are their own where no container gets to the cache', () => {
    vi.stubEnv('HELIX_TESTBED_CACHE', mkdtempSync(join(place, 'closed-')))
    expect(prepare('one')).toBe(join(place, 'one/usr/bin'))
  })
})
