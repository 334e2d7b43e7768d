import { FileSystemError } from '@helix-agents/core'
import { expect, test } from 'vitest'
import type { DriverAttributes, DriverFiles } from '../../../src/driver/port.ts'
import type { FileCalls, LiveSandbox } from '../../../src/lifecycle/live-sandbox.ts'
import { SandboxAttributes } from '../../../src/modules/fs/attributes.ts'
import { CloudflareSandboxFileSystem } from '../../../src/modules/fs/cloudflare-sandbox-file-system.ts'
import { entryOf } from './file-calls.ts'

/** Calls that reach a driver with these answers; what they get, and the path that errors would name. */
function attributesOf(
  answers: Partial<DriverAttributes>,
  files: Pick<DriverFiles, 'readMany'> = {},
) {
  const made: unknown[] = []
  const attributes = Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [
      name,
      async (...given: unknown[]): Promise<unknown> => {
        made.push([name, ...given])
        return Reflect.apply(answer, undefined, given)
      },
    ]),
  )
  const driver = { files: { ...files, attributes } as unknown as DriverFiles }
  const paths: string[] = []
  const calls: FileCalls = {
    call: async (run) => run(driver),
    callFile: async (path, run) => {
      paths.push(path)
      return run(driver)
    },
  }
  return { attributes: new SandboxAttributes(calls), made, paths }
}

const statusOf = (path: string, mode: number) => ({ ...entryOf(path), mode })

test('permissions are asked for and set by normalised paths', async () => {
  const { attributes, made } = attributesOf({
    statMany: async () => [statusOf('/workspace/a', 0o640)],
    writeModes: async () => {},
  })
  expect(await attributes.readMode('a')).toBe(0o640)
  expect(made).toEqual([['statMany', ['/workspace/a'], undefined]])
  const { signal } = new AbortController()
  await attributes.writeModes([{ path: 'a', mode: 0o600 }], { signal })
  await attributes.writeModes([])
  expect(made.slice(1)).toEqual([
    ['writeModes', [{ path: '/workspace/a', mode: 0o600 }], signal],
    ['writeModes', [], undefined],
  ])
})

async function late(): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve))
  throw new Error('too late')
}

test('permissions and links are there when the call ends, or it fails', async () => {
  const { attributes } = attributesOf({ writeModes: late, makeLink: late })
  await expect(attributes.writeModes([])).rejects.toThrow('too late')
  await expect(attributes.makeLink('/l', 'a')).rejects.toThrow('too late')
})

test('what is not there has no permissions', async () => {
  const { attributes } = attributesOf({ statMany: async () => [undefined] })
  const missing = { code: 'not-found', path: '/a' }
  await expect(attributes.readMode('/a')).rejects.toMatchObject(missing)
  await expect(attributes.readMode('/a')).rejects.toBeInstanceOf(FileSystemError)
})

test('links are read and made by their paths, and none that may lead out is made', async () => {
  const { attributes, made, paths } = attributesOf({
    readLink: async () => '../a',
    makeLink: async () => {},
  })
  expect(await attributes.readLink('/d/l')).toBe('../a')
  await attributes.makeLink('d/l', '../a')
  expect(made).toEqual([
    ['readLink', '/workspace/d/l'],
    ['makeLink', '/workspace/d/l', '../a'],
  ])
  expect(paths).toEqual(['/d/l', '/d/l'])
  for (const target of ['/etc/passwd', '../../a', 'b/../../..']) {
    const escape = { code: 'path-escape', message: expect.stringContaining('may lead out') }
    await expect(attributes.makeLink('/d/l', target)).rejects.toMatchObject(escape)
  }
  expect(made).toHaveLength(2)
})

test('many paths are described and read together', async () => {
  const bytes = new Uint8Array([1, 2, 3])
  const { attributes } = attributesOf(
    { statMany: async () => [statusOf('/workspace/a', 0o640)] },
    { readMany: async (paths) => paths.map((path) => ({ path, bytes })) },
  )
  const entries = [{ name: 'a', path: '/a', type: 'file' }] as const
  const found = await attributes.readAhead(entries, { isKnown: () => false })
  expect(found.get('/a')).toMatchObject({ mode: 0o640, bytes })
})

const live = (hasAttributes: boolean) =>
  ({ hasAttributes, withoutLinks: () => ({}) }) as unknown as LiveSandbox

test('files have attributes where the driver has them, always for paths without links', () => {
  const limits = { maxFileBytes: 1, maxWholeReadBytes: 1, maxSearchedFiles: 1 }
  const having = new CloudflareSandboxFileSystem(live(true), limits)
  expect(having.attributes).toBeInstanceOf(SandboxAttributes)
  expect(having.withoutLinks().attributes).toBeInstanceOf(SandboxAttributes)
  expect(new CloudflareSandboxFileSystem(live(false), limits).attributes).toBeUndefined()
})
