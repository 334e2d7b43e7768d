import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileSystem } from '@helix-agents/core/provider'

const BLOCK = 1024 * 1024

/** Bytes of every value that no compression and no decoder leaves alone. */
function binary(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  for (let index = 0; index < length; index += 1) bytes[index] = (index * 31 + (index >> 9)) & 255
  return bytes
}

/** Contents of awkward kinds, by path; any provider holds them. */
export function awkwardFiles(count: number): ReadonlyMap<string, Uint8Array | string> {
  const files = new Map<string, Uint8Array | string>([
    ['/empty', ''],
    ['/.hidden', 'x'],
    ['/one-block', binary(BLOCK)],
    ['/over-one-block', binary(BLOCK + 1)],
    ['/large', binary(3 * BLOCK + 7)],
    ['/binary', binary(256)],
    ['/no-utf8', new Uint8Array([0xff, 0xfe, 0x00, 0xc3])],
    ['/a/b', 'below a'],
    ['/a!', 'sorts between a and what is in it'],
    ['/a.b', 'too'],
    ['/spaces and\ttabs', 'x'],
    ['/new\nline', 'x'],
    ['/quote"\'`$(x)', 'x'],
    ['/back\\slash', 'x'],
    ['/-rf', 'x'],
    ['/*', 'x'],
    ['/é', 'composed'],
    ['/e\u0301', 'decomposed'],
    ['/日本語/\u{1f600}.txt', 'x'],
    ['/\uffee', 'sorts before a surrogate pair'],
    ['/\u{10000}', 'x'],
    [`/${'n'.repeat(255)}`, 'x'],
    [`${'/d'.repeat(100)}/deep`, 'x'],
  ])
  for (let index = 0; index < count; index += 1) {
    files.set(`/many/${index % 97}/file-${index}`, `content ${index % 1000}`)
  }
  return files
}

/** Writes them, and directories that hold nothing. */
export async function fillAwkward(fs: FileSystem, count: number): Promise<void> {
  for (const [path, content] of awkwardFiles(count)) await fs.writeFile(path, content)
  await fs.mkdir('/nothing')
  await fs.mkdir('/nothing-below/nothing', { recursive: true })
}

/** What only a directory of a host has: modes and links, and what no snapshot takes. */
export function addHostKinds(root: string): void {
  chmodSync(join(root, 'binary'), 0o755)
  chmodSync(join(root, 'a'), 0o700)
  mkdirSync(join(root, 'links'))
  symlinkSync('../binary', join(root, 'links/relative'))
  symlinkSync('../a', join(root, 'links/to-directory'))
  symlinkSync('nowhere', join(root, 'links/dangling'))
  symlinkSync(join(root, 'empty'), join(root, 'links/absolute-inside'))
  symlinkSync('/etc/passwd', join(root, 'links/absolute-outside'))
  symlinkSync('../../../etc/passwd', join(root, 'links/climbs-out'))
  symlinkSync('circle', join(root, 'links/circle'))
  writeFileSync(join(root, 'links/file'), 'x', { mode: 0o600 })
}
