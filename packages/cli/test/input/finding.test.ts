// What is looked for on the machine: databases, packages, tokens, lines.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readToken } from '../../src/commands/fleet/client/read-token.ts'
import { pathOf } from '../../src/commands/fleet/client/sandbox-path.ts'
import { findDatabase } from '../../src/input/find-database.ts'
import { importInstalled } from '../../src/input/import-installed.ts'
import { importWithSqlite } from '../../src/input/import-with-sqlite.ts'
import { createTextInput } from '../../src/text-input.ts'
import type { CliHost } from '../../src/cli-host.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'helix-cli-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('a database', () => {
  it('is a file that is there', async () => {
    const file = join(folder, 'helix.db')
    const missing = { exitCode: 3, message: `there is no database ${file}: name one with --db` }
    await expect(findDatabase(file)).rejects.toMatchObject(missing)
    writeFileSync(file, '')
    expect(await findDatabase(file)).toBe(file)
    const none = { exitCode: 3, message: `${folder} is no file` }
    await expect(findDatabase(folder)).rejects.toMatchObject(none)
  })
})

const failing = (error: unknown) => async (): Promise<never> => {
  throw error
}

describe('a package', () => {
  it('that is not installed is named', async () => {
    const cause = Object.assign(new Error('x'), { code: 'ERR_MODULE_NOT_FOUND' })
    await expect(importInstalled('some-package', failing(cause))).rejects.toMatchObject({
      exitCode: 70,
      message: 'this needs a package: npm install some-package',
      cause,
    })
  })

  it.each([new Error('x'), Object.assign(new Error('x'), { code: 'OTHER' }), 'text'])(
    'that fails otherwise fails so (%s)',
    async (error) => {
      await expect(importInstalled('a', failing(error))).rejects.toBe(error)
      // This Node has SQLite.
      await expect(importWithSqlite(failing(error))).rejects.toBe(error)
    },
  )

  it('that is there is loaded', async () => {
    expect(await importInstalled('a', async () => 'loaded')).toBe('loaded')
    expect(await importWithSqlite(async () => 'loaded')).toBe('loaded')
  })
})

const hostWith = (env: CliHost['env'], input = ''): CliHost =>
  ({ env, stdin: { readAll: async () => input } }) as unknown as CliHost

describe('the token of a fleet', () => {
  it.each([
    [{}, undefined],
    [{ HELIX_FLEET_TOKEN: ' \n' }, undefined],
    [{ HELIX_FLEET_TOKEN: ' a!~b\n' }, 'a!~b'],
  ])('of the environment %j is %s', async (env, token) => {
    expect(await readToken(hostWith(env), undefined)).toBe(token)
  })

  it('may be in a file or on stdin, which go before the environment', async () => {
    const host = hostWith({ HELIX_FLEET_TOKEN: 'other' }, 'of-stdin\n')
    const file = join(folder, 'token')
    writeFileSync(file, 'of-the-file\n')
    expect([await readToken(host, '-'), await readToken(host, file)]).toEqual([
      'of-stdin',
      'of-the-file',
    ])
  })

  it.each([
    [{ HELIX_FLEET_TOKEN: 'two words' }, undefined, '', '$HELIX_FLEET_TOKEN does not hold a token'],
    [{ HELIX_FLEET_TOKEN: 'wört' }, undefined, '', '$HELIX_FLEET_TOKEN does not hold a token'],
    [{}, '-', 'a b', '--token-file does not hold a token'],
    [{}, '-', ' ', '--token-file holds no token'],
    [{}, '/nowhere/token', '', '--token-file cannot be read: ENOENT'],
  ])('%j, %s, %j is none', async (env, file, input, problem) => {
    const read = readToken(hostWith(env, input), file)
    await expect(read).rejects.toMatchObject({ exitCode: 2 })
    await expect(readToken(hostWith(env, input), file)).rejects.toThrow(problem)
  })
})

it.each(['', '.', '..'])('%j is no id of a sandbox', (id) => {
  expect(() => pathOf(id)).toThrow(`${JSON.stringify(id)} is no id of a sandbox`)
  expect(() => pathOf(id)).toThrow(expect.objectContaining({ exitCode: 2 }))
})

it('the path of a sandbox', () => {
  expect([pathOf('a/b'), pathOf('a', 'logs'), pathOf('...', 'resources')]).toEqual([
    '/api/sandbox/a%2Fb',
    '/api/sandbox/a/logs',
    '/api/sandbox/.../resources',
  ])
})

const inputOf = (text: string, isTTY = false) => {
  const stream = Object.assign(new PassThrough(), { isTTY })
  stream.end(text)
  let opened = 0
  const input = createTextInput(() => {
    opened += 1
    return stream as unknown as NodeJS.ReadStream
  })
  return { input, opened: () => opened }
}

describe('input', () => {
  it('is read by line, or whole', async () => {
    expect(await inputOf('yes\nno\n').input.readLine()).toBe('yes')
    expect(await inputOf('').input.readLine()).toBe('')
    expect(await inputOf('yes\nno\n').input.readAll()).toBe('yes\nno\n')
  })

  it('is not touched before it is asked for', () => {
    const { input, opened } = inputOf('', true)
    expect(opened()).toBe(0)
    expect(input.isTTY).toBe(true)
    expect(inputOf('').input.isTTY).toBe(false)
  })
})
