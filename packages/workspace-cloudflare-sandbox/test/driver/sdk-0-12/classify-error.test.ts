import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { DriverError } from '../../../src/driver/driver-error.ts'
import { classifyError } from '../../../src/driver/sdk-0-12/classify-error.ts'
import { CODES, TELLING_CODES, UNKNOWN_CODES } from '../../../src/driver/sdk-0-12/error-codes.ts'

interface Recorded {
  readonly name: string
  readonly code: string
  readonly message: string
  readonly context?: Readonly<Record<string, unknown>>
}

/** An error as it arrives from an object with a compatibility date from 2026-04-21 on. */
function enhanced({ name, code, message, context = {} }: Recorded): Error {
  const errorResponse = {
    code,
    message,
    context,
    httpStatus: 500,
    timestamp: '2026-11-21T10:00:00Z',
  }
  return Object.assign(new Error(message), { name, errorResponse })
}

/** As it arrives from an older one. */
function plain({ name, message }: Recorded): Error {
  return new Error(`${name}: ${message}`)
}

/** As an own property of the error itself, which is how the container sends it. */
function coded({ code, message, context }: Recorded): Error {
  return Object.assign(new Error(message), { code, details: context })
}

function seen(thrown: unknown): Record<string, unknown> {
  const { error, isRetryable } = classifyError(thrown)
  const { code, admitted, reason, retryAfterMs } = error
  return {
    code,
    admitted,
    isRetryable,
    ...(reason !== undefined && { reason }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

const unavailable = (reason: string, retryAfterMs?: number): Recorded => ({
  name: 'ContainerUnavailableError',
  code: 'CONTAINER_UNAVAILABLE',
  message: 'The container is not available.',
  context: { reason, retryable: true, ...(retryAfterMs !== undefined && { retryAfterMs }) },
})

const interrupted = (context: Record<string, unknown>): Recorded => ({
  name: 'OperationInterruptedError',
  code: 'OPERATION_INTERRUPTED',
  message: 'The sandbox container stopped while the operation was pending.',
  context,
})

describe('errors that crossed an object boundary', () => {
  it.each([enhanced, coded])('are read by their code: %o', (shape) => {
    expect(seen(shape(unavailable('container_starting', 2000)))).toEqual({
      code: 'unavailable',
      admitted: 'no',
      isRetryable: true,
      reason: 'starting',
      retryAfterMs: 2000,
    })
    expect(seen(shape(unavailable('max_container_instances_exceeded')))).toEqual({
      code: 'unavailable',
      admitted: 'no',
      isRetryable: false,
      reason: 'capacity',
    })
    expect(
      seen(shape(interrupted({ reason: 'runtime_replaced', admitted: false, retryable: true }))),
    ).toEqual({ code: 'interrupted', admitted: 'no', isRetryable: true })
    expect(
      seen(shape(interrupted({ reason: 'transport_disposed', admitted: true, retryable: false }))),
    ).toEqual({ code: 'interrupted', admitted: 'unknown', isRetryable: true })
    expect(
      seen(shape(interrupted({ reason: 'recovery_exhausted', admitted: false, retryable: false }))),
    ).toEqual({ code: 'interrupted', admitted: 'no', isRetryable: false })
    expect(
      seen(
        shape(
          interrupted({ reason: 'sandbox_lifetime_changed', admitted: 'unknown', retryable: true }),
        ),
      ),
    ).toEqual({ code: 'interrupted', admitted: 'unknown', isRetryable: false })
    expect(
      seen(
        shape(
          interrupted({
            reason: 'runtime_replaced',
            admitted: true,
            retryable: true,
            containerExitCode: 137,
          }),
        ),
      ),
    ).toMatchObject({ reason: 'memory' })
  })

  it('are read by the name of their class when nothing else came', () => {
    expect(seen(plain(unavailable('container_starting')))).toEqual({
      code: 'unavailable',
      admitted: 'no',
      isRetryable: true,
      reason: 'starting',
    })
    expect(seen(plain(interrupted({})))).toEqual({
      code: 'interrupted',
      admitted: 'unknown',
      isRetryable: true,
    })
    expect(
      seen(plain({ name: 'RPCTransportError', code: '', message: 'Peer closed WebSocket: 1006' })),
    ).toEqual({ code: 'interrupted', admitted: 'unknown', isRetryable: true })
    expect(seen(plain({ name: 'ContextNotFoundError', code: '', message: 'no' }))).toMatchObject({
      code: 'context-missing',
      admitted: 'yes',
    })
    expect(
      seen(plain({ name: 'BackupExpiredError', code: '', message: 'Backup x has expired' })),
    ).toMatchObject({ code: 'snapshot-expired' })
  })

  it.each([
    ['FILE_NOT_FOUND', 'not-found'],
    ['NO_SPACE', 'storage-full'],
    ['READ_ONLY', 'read-only'],
    ['NAME_TOO_LONG', 'name-too-long'],
    ['CONTEXT_NOT_FOUND', 'context-missing'],
    ['PYTHON_NOT_AVAILABLE', 'language-missing'],
    ['BACKUP_NOT_FOUND', 'snapshot-missing'],
    ['INVALID_BACKUP_CONFIG', 'not-configured'],
    ['PROCESS_NOT_FOUND', 'process-missing'],
    ['UNKNOWN_ERROR', 'failed'],
  ])('%s is %s', (code, ours) => {
    expect(seen(enhanced({ name: 'SandboxError', code, message: 'text' }))).toMatchObject({
      code: ours,
      isRetryable: false,
    })
  })

  it('of a spawn in a missing directory say so, never that bash is missing', () => {
    const message = "ENOENT: no such file or directory, posix_spawn '/bin/bash'"
    for (const code of ['COMMAND_EXECUTION_ERROR', 'STREAM_START_ERROR']) {
      expect(seen(enhanced({ name: 'CommandError', code, message }))).toMatchObject({
        code: 'directory-missing',
        admitted: 'no',
      })
    }
  })

  it('of the platform are known by message and marks, through their causes', () => {
    const deploy = new Error('outer', {
      cause: new TypeError('Durable Object reset because its code was updated.'),
    })
    expect(seen(deploy)).toEqual({ code: 'replaced', admitted: 'unknown', isRetryable: false })
    const capacity = new Error('x', {
      cause: new Error(
        'There is no container instance that can be provided to this Durable Object, try again later',
      ),
    })
    expect(seen(capacity)).toMatchObject({
      code: 'unavailable',
      reason: 'capacity',
      admitted: 'no',
    })
    expect(seen(new Error('Network connection lost.'))).toMatchObject({
      code: 'interrupted',
      isRetryable: true,
    })
    expect(seen(Object.assign(new Error('try again'), { retryable: true }))).toMatchObject({
      code: 'interrupted',
      isRetryable: true,
    })
    const overloaded = Object.assign(new Error('Durable Object is overloaded.'), {
      retryable: true,
      overloaded: true,
    })
    expect(seen(overloaded)).toMatchObject({ code: 'interrupted', isRetryable: false })
    expect(seen(new Error('Container failed to start'))).toMatchObject({
      code: 'unavailable',
      admitted: 'no',
      isRetryable: true,
    })
  })

  it('are always errors of the driver, whatever was thrown', () => {
    const cyclic: { cause?: unknown } = {}
    cyclic.cause = cyclic
    for (const thrown of [undefined, null, 'text', 7, {}, cyclic, Object.create(null)]) {
      expect(classifyError(thrown).error).toBeInstanceOf(DriverError)
    }
    const own = new DriverError('not-found', 'x', { admitted: 'yes' })
    expect(classifyError(own)).toEqual({ error: own, isRetryable: false })
  })
})

describe('what an error of the SDK repeats stays out of causes', () => {
  const SECRET = 'sk-planted'
  const command = `exec 2>/dev/null\nexport TOKEN='${SECRET}'\nmake`
  const address = `https://bucket.example/backups/1?X-Amz-Signature=${SECRET}`
  const response = {
    code: 'COMMAND_EXECUTION_ERROR',
    message: `Failed: ${command}`,
    context: { command, stderr: SECRET, reason: 'spawn' },
  }

  it.each([
    ['a command in the message', new Error(`CommandError: cannot run ${command}`)],
    ['a command in the context', Object.assign(new Error('no'), { errorResponse: response })],
    ['a signed address', new Error(`BackupCreateError: PUT ${address} failed`)],
    ['keys in an address', new Error(`PUT https://key:${SECRET}@host/x?y failed`)],
    [
      'what is not configured',
      new Error(`InvalidMountConfigError: cannot reach ${address}\n${SECRET}`),
    ],
    ['a cause below', new Error('no', { cause: new Error(SECRET) })],
  ])('%s', (_, thrown) => {
    const { error } = classifyError(thrown)
    expect(error).toBeInstanceOf(DriverError)
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(SECRET)
  })
})

it('an internal error of the platform may pass', () => {
  const { error, isRetryable } = classifyError(new Error('internal error; reference = abc'))
  expect([error.code, error.admitted, isRetryable]).toEqual(['interrupted', 'unknown', true])
})

it('a handle of a runtime that is gone leaves open whether the command ran', () => {
  const errorResponse = { code: 'STALE_PROCESS_HANDLE', context: { processId: 'p' } }
  const { error } = classifyError(Object.assign(new Error('stale'), { errorResponse }))
  expect([error.code, error.admitted]).toEqual(['interrupted', 'unknown'])
})

it.each(['constructor', 'toString', '__proto__'])('a code that is no code, %s', (code) => {
  const thrown = Object.assign(new Error('no'), { errorResponse: { code } })
  expect(seen(thrown)).toEqual(
    seen(Object.assign(new Error('no'), { errorResponse: { code: 'NEW' } })),
  )
})

describe.each(['@cloudflare/sandbox', 'cloudflare-sandbox-next'])('the codes of %s', (sdk) => {
  const folder = dirname(createRequire(import.meta.url).resolve(sdk))
  const chunks = readdirSync(folder).filter((name) => /^errors-.*\.js$/.test(name))
  const text = chunks.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
  const listed = [...text.matchAll(/^\t([A-Z_\d]+): "\1",?$/gm)].map(([, code = '']) => code)

  it('are all known, each in one way', () => {
    expect(listed.length).toBeGreaterThan(60)
    const ways = listed.map((code) => [
      code,
      [CODES.has(code), TELLING_CODES.has(code), UNKNOWN_CODES.has(code)].filter(Boolean).length,
    ])
    expect(ways.filter(([, count]) => count !== 1)).toEqual([])
  })

  it('keep the words of the platform as their cause', () => {
    for (const code of listed) {
      const thrown = Object.assign(new Error('in its own words'), { errorResponse: { code } })
      expect([code, classifyError(thrown).error.cause]).toMatchObject([
        code,
        { message: expect.stringContaining('in its own words') },
      ])
    }
  })

  it.each([
    ['ENOSPC: no space left on device, write', 'storage-full'],
    ["ENOTDIR: not a directory, mkdir '/workspace'", 'not-directory'],
    ["mkdir: cannot create directory '/workspace': File exists", 'exists'],
    ['something else', 'failed'],
  ])('FILESYSTEM_ERROR %s is %s', (stderr, code) => {
    const message = 'write /workspace/EACCES'
    const errorResponse = { code: 'FILESYSTEM_ERROR', message, context: { stderr } }
    const { error } = classifyError(Object.assign(new Error(message), { errorResponse }))
    expect([error.code, error.admitted]).toEqual([code, 'yes'])
  })
})
