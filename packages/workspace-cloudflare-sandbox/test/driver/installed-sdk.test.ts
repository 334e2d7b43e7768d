import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { DriverError } from '../../src/driver/driver-error.ts'
import { assertTransport, lineOfSdk, SUPPORTED_SDKS } from '../../src/driver/installed-sdk.ts'
import { toOpenError } from '../../src/lifecycle/map-error.ts'

/** What a package exports by its index; loaded, it asks for workerd. */
function exportsOf(name: string): object {
  const index = fileURLToPath(import.meta.resolve(name))
  const [, names = ''] = /^export \{(.*)\};$/m.exec(readFileSync(index, 'utf8')) ?? []
  return Object.fromEntries(names.split(',').map((word) => [word.trim(), true]))
}

function versionOf(name: string): unknown {
  const index = fileURLToPath(import.meta.resolve(name))
  const text = readFileSync(join(dirname(index), '../package.json'), 'utf8')
  return (JSON.parse(text) as { version: unknown }).version
}

describe('the line of an SDK', () => {
  it.each([
    ['@cloudflare/sandbox', '0.12'],
    ['cloudflare-sandbox-next', '0.13'],
  ] as const)('%s is %s', (name, line) => {
    expect(lineOfSdk(exportsOf(name))).toBe(line)
    expect(versionOf(name)).toBe(SUPPORTED_SDKS[line])
  })

  it.each([
    ['without getSandbox, as 1.0', { Sandbox: true, StaleProcessHandleError: true }],
    ['older', { getSandbox: true, SandboxClient: true, SessionTerminatedError: true }],
    ['empty', {}],
  ])('is unknown: %s', (_name, sdk) => {
    const seen = catchError(() => lineOfSdk(sdk))
    expect(seen).toBeInstanceOf(DriverError)
    expect(toOpenError(seen)).toMatchObject({
      code: 'config-invalid',
      message: expect.stringMatching(/0\.12\.10 and 0\.13\.0-next\.751\.1 are supported/),
    })
    expect(seen).toMatchObject({ code: 'not-configured', admitted: 'no' })
  })

  it.each(['StaleProcessHandleError', 'SandboxClient'])(
    'needs all its names, not only %s',
    (name) => {
      for (const missing of ['getSandbox', 'ContainerUnavailableError']) {
        const sdk = { getSandbox: true, ContainerUnavailableError: true, [name]: true }
        expect(() => lineOfSdk(sdk)).not.toThrow()
        Reflect.deleteProperty(sdk, missing)
        expect(() => lineOfSdk(sdk)).toThrow(DriverError)
      }
    },
  )
})

describe('a transport', () => {
  it.each([
    ['0.12', 'rpc'],
    ['0.12', 'http'],
    ['0.13', 'rpc'],
  ] as const)('of %s is %s', (line, transport) => {
    expect(() => assertTransport(line, transport)).not.toThrow()
  })
  it('that the line does not have is not configured', () => {
    const message = 'the installed @cloudflare/sandbox has no transport http: declare rpc or none'
    const refused = { code: 'not-configured', admitted: 'no', message }
    expect(catchError(() => assertTransport('0.13', 'http'))).toMatchObject(refused)
  })
})

function catchError(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}
