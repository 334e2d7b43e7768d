import { expect, test } from 'vitest'
import { FileSystemError } from '../../../../src/errors/file-system-error.ts'
import { respell } from '../../../../src/modules/fs/policy/ruled-paths.ts'
import { MapFileSystem } from '../map-file-system.ts'
import { codeOf, ToolBench } from '../tool-bench.ts'

type Told = (event: { readonly type: 'changed'; readonly path: string }) => Promise<void>

/** Files in which some paths are links to others. */
class LinkedFiles extends MapFileSystem {
  readonly links = new Map<string, string>()
  readonly asked: (readonly [path: string, followLast: boolean | undefined])[] = []
  withoutLinks = () => this

  async realPath(path: string, { followLast }: { readonly followLast?: boolean } = {}) {
    this.asked.push([path, followLast])
    for (const [link, target] of this.links) {
      if (path === link && followLast === false) return path
      if (path !== link && !path.startsWith(`${link}/`)) continue
      if (target === '') throw new FileSystemError('path-escape', path)
      return target + path.slice(link.length)
    }
    return path
  }
}

async function bench() {
  const fs = new LinkedFiles()
  const made = new ToolBench(
    {
      pathRules: [
        { pattern: '/secret/**', access: 'none' },
        { pattern: '/shown/off', access: 'none' },
        { pattern: '/docs/**', access: 'read' },
      ],
    },
    fs,
  )
  for (const path of ['/real/a', '/real/d/b', '/real/off', '/secret/x', '/docs/d']) {
    await fs.writeFile(path, 'needle')
  }
  fs.links.set('/shown', '/real')
  fs.links.set('/open', '/secret')
  fs.links.set('/read', '/docs')
  fs.links.set('/out', '')
  return { fs, made, files: made.guarded }
}

test('a path through a link is used where it leads, and told as it was spelled', async () => {
  const { fs, files } = await bench()
  expect((await files.stat('/shown/a')).path).toBe('/shown/a')
  expect(await files.readText!('/shown/a')).toBe('needle')
  expect((await files.ls('/shown')).map(({ path }) => path)).toEqual(['/shown/a', '/shown/d'])
  expect(await files.glob('**', { path: '/shown' })).toEqual(['/shown/a', '/shown/d/b'])
  const { matches, skippedPaths } = await files.grep('needle', { path: '/shown' })
  expect(matches.map(({ path }) => path)).toEqual(['/shown/a', '/shown/d/b'])
  expect(skippedPaths).toEqual([])
  expect((await files.writeFile('/shown/new', 'x')).path).toBe('/shown/new')
  expect((await files.appendFile('/shown/new', 'y')).path).toBe('/shown/new')
  expect(fs.text('/real/new')).toBe('xy')
})

test('skipped files of a search are told as they are spelled, hidden ones not', async () => {
  const { fs, files } = await bench()
  await fs.writeFile('/real/bin', new Uint8Array(1))
  await fs.writeFile('/secret/bin', new Uint8Array(1))
  await fs.writeFile('/real/large', 'x'.repeat(2000))
  await fs.writeFile('/secret/large', 'x'.repeat(2000))
  const options = { path: '/shown', maxGrepFileSizeMb: 1 / 1024 }
  expect(await files.grep('needle', options)).toMatchObject({
    skippedPaths: ['/shown/large'],
    skippedBinaryPaths: ['/shown/bin'],
    countIsComplete: false,
  })
  expect(await files.grep('needle', { ...options, path: '/' })).toMatchObject({
    skippedPaths: ['/real/large'],
    skippedBinaryPaths: ['/real/bin'],
  })
})

test('a link to what is hidden, or may not be changed, is refused, and recorded', async () => {
  const { made, files } = await bench()
  await expect(files.readFile('/open/x')).rejects.toMatchObject({
    code: 'path-denied',
    message: expect.stringContaining(
      '"/open/x" leads to a path that may not be used in this workspace',
    ),
  })
  await expect(files.writeFile('/read/d', 'x')).rejects.toThrow(
    '"/read/d" leads to a path that may be read but not changed in this workspace',
  )
  await expect(files.writeFile('/docs/d', 'x')).rejects.toThrow(
    '"/docs/d" may be read but not changed in this workspace',
  )
  expect(made.audited.map(({ key, fields }) => [key, fields])).toEqual([
    ['/secret/x', { path: '/open/x', reached: '/secret/x', wanted: 'read', access: 'none' }],
    ['/docs/d', { path: '/read/d', reached: '/docs/d', wanted: 'write', access: 'read' }],
    ['/docs/d', { path: '/docs/d', wanted: 'write', access: 'read' }],
  ])
})

test('a removal and a move are of the link, a copy is of what it leads to', async () => {
  const { fs, files } = await bench()
  const followed = async (call: Promise<unknown>) => {
    await codeOf(call)
    return fs.asked.splice(0).filter(([path]) => path === '/shown')
  }
  fs.asked.length = 0
  expect(await followed(files.rm('/shown'))).toEqual([['/shown', false]])
  expect(await followed(files.move('/shown', '/x'))).toEqual([
    ['/shown', false],
    ['/shown', undefined],
  ])
  expect(await followed(files.copy('/shown', '/y'))).toEqual([['/shown', true]])
  expect(await followed(files.copy('/real', '/shown'))).toEqual([['/shown', true]])
  expect(fs.text('/y/a')).toBe('needle')
})

test('nothing below a link is touched with it, wherever it leads', async () => {
  const { fs, files } = await bench()
  // The link alone is moved: what it leads to holds a path that is off limits.
  fs.files.set('/open', { bytes: new Uint8Array(), version: 'link' })
  fs.files.set('/out', { bytes: new Uint8Array(), version: 'link' })
  expect(await codeOf(files.rm('/open', { recursive: true }))).toBe('ok')
  expect(await codeOf(files.rm('/out', { recursive: true }))).toBe('ok')
  expect(fs.all()['/secret/x']).toBe('needle')
  expect(await codeOf(files.rm('/secret', { recursive: true }))).toBe('path-denied')
})

test('another failure of a link is told', async () => {
  const { fs, made } = await bench()
  const failure = new Error('disk')
  fs.realPath = async (path, options) => {
    if (options?.followLast === undefined) throw failure
    return path
  }
  await expect(made.guarded.rm('/real', { recursive: true })).rejects.toBe(failure)
})

test('changes are told as they are spelled, hidden ones not', async () => {
  const { fs, made } = await bench()
  let tell: Told | undefined
  const watched: string[] = []
  Object.assign(fs, {
    watch: async (path: string, callback: Told) => {
      watched.push(path)
      tell = callback
      return () => undefined
    },
  })
  const seen: string[] = []
  await made.guarded.watch!('/shown', async ({ path }) => void seen.push(path))
  for (const path of ['/real/a', '/real/off', '/secret/x']) await tell?.({ type: 'changed', path })
  expect([watched, seen]).toEqual([['/real'], ['/shown/a']])
  await expect(made.guarded.watch!('/open', async () => {})).rejects.toMatchObject({
    code: 'path-denied',
  })
})

test.each([
  ['/a', '/a', '/a/x', '/a/x'],
  ['/link', '/real', '/real', '/link'],
  ['/link', '/real', '/real/x', '/link/x'],
  ['/link', '/', '/', '/link'],
  ['/link', '/', '/x', '/link/x'],
  ['/', '/real', '/real', '/'],
  ['/', '/real', '/real/x', '/x'],
])('spelled %s, really %s: %s is %s', (spelled, real, path, expected) => {
  expect(respell({ spelled, real }, path)).toBe(expected)
})
