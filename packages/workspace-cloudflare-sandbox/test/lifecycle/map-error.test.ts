// Every error that a driver knows, at every operation: the class says what the caller does next,
// and no word of the driver reaches the model.
import { FileSystemError, HelixError } from '@helix-agents/core'
import type { Workspace } from '@helix-agents/core/provider'
import { renderToolError, toToolError } from '@helix-agents/core/runtime'
import {
  type CallAdmission,
  DriverError,
  type DriverErrorCode,
} from '@helix-agents/workspace-cloudflare-sandbox'
import { describe, expect, test } from 'vitest'
import { isCapacityError, toOpenError, toWorkspaceError } from '../../src/lifecycle/map-error.ts'
import { Bench } from '../double/open-on-double.ts'

const SECRET = 'sandbox hx-secret at /var/lib/secret said no'

/** Only of what is not configured the words are shown: they name bindings. */
const wordsOf = (code: DriverErrorCode): string =>
  code === 'not-configured' ? 'BACKUP_BUCKET is missing' : SECRET

/** Class and code for each error, where the container has taken the operation. */
const expected: Readonly<Record<DriverErrorCode, string>> = {
  unavailable: 'WorkspaceFailedError provider-failed',
  interrupted: 'WorkspaceEvictedError evicted',
  replaced: 'WorkspaceEvictedError evicted',
  'directory-missing': 'WorkspaceFailedError working-directory-missing',
  'not-found': 'FileSystemError not-found',
  exists: 'FileSystemError already-exists',
  'is-directory': 'FileSystemError is-directory',
  'not-directory': 'FileSystemError not-directory',
  'not-empty': 'FileSystemError not-empty',
  'too-large': 'FileSystemError too-large',
  'name-too-long': 'FileSystemError invalid-path',
  'read-only': 'FileSystemError read-only',
  denied: 'FileSystemError permission-denied',
  'path-escape': 'FileSystemError path-escape',
  'version-conflict': 'FileSystemError stale-write',
  'storage-full': 'FileSystemError storage-full',
  'context-missing': 'ToolInputError invalid-input',
  'language-missing': 'WorkspaceFailedError capability-missing',
  'process-missing': 'ToolInputError invalid-input',
  'snapshot-missing': 'WorkspaceFailedError provider-failed',
  'snapshot-expired': 'WorkspaceFailedError provider-failed',
  'snapshot-failed': 'WorkspaceFailedError provider-failed',
  'snapshot-elsewhere': 'WorkspaceFailedError provider-failed',
  'snapshot-too-large': 'WorkspaceFailedError provider-failed',
  'not-configured': 'WorkspaceFailedError config-invalid',
  'destroy-unconfirmed': 'WorkspaceFailedError provider-failed',
  failed: 'WorkspaceFailedError provider-failed',
}

const stream = (): ReadableStream<Uint8Array> => new Blob(['x']).stream()

const operations: Readonly<Record<string, (ws: Workspace) => Promise<unknown>>> = {
  readFile: ({ fs }) => fs!.readFile('/d/a'),
  writeFile: ({ fs }) => fs!.writeFile('/d/a', 'x'),
  appendFile: ({ fs }) => fs!.appendFile('/d/a', 'x'),
  ls: ({ fs }) => fs!.ls('/d'),
  glob: ({ fs }) => fs!.glob('**', { path: '/d' }),
  grep: ({ fs }) => fs!.grep('x', { path: '/d' }),
  stat: ({ fs }) => fs!.stat('/d/a'),
  mkdir: ({ fs }) => fs!.mkdir('/d/e'),
  rm: ({ fs }) => fs!.rm('/d/a'),
  copy: ({ fs }) => fs!.copy('/d/a', '/d/b'),
  move: ({ fs }) => fs!.move('/d/a', '/d/b'),
  readStream: ({ fs }) => fs!.readStream('/d/a'),
  writeStream: ({ fs }) => fs!.writeStream('/d/a', stream()),
  run: ({ shell }) => shell!.run('true'),
  start: ({ shell }) => shell!.start!('true'),
  list: ({ shell }) => shell!.list!(),
  output: ({ shell }) => shell!.output!('p1'),
  kill: ({ shell }) => shell!.kill!('p1'),
  runCode: ({ code }) => code!.runCode('python', '1'),
  createContext: ({ code }) => code!.createContext!('python'),
  snapshot: ({ snapshot }) => snapshot!.snapshot(),
}

async function provoke(operation: string, error: unknown): Promise<unknown> {
  const bench = new Bench({ backupR2Binding: 'BACKUP_BUCKET' })
  const { ws } = await bench.open()
  bench.world.onCall = () => {
    throw error
  }
  return operations[operation]!(ws).catch((each: unknown) => each)
}

const nameOf = (error: unknown): string =>
  HelixError.isInstance(error) ? `${error.name} ${error.code}` : String(error)

const gone = (reason?: 'memory') =>
  toWorkspaceError(
    new DriverError('interrupted', 'x', { admitted: 'no', ...(reason && { reason }) }),
  )

describe.each(Object.keys(operations))('%s', (operation) => {
  test('gives every error its class and code', async () => {
    const got: Record<string, string> = {}
    const shown: string[] = []
    for (const code of Object.keys(expected) as DriverErrorCode[]) {
      const error = await provoke(
        operation,
        new DriverError(code, wordsOf(code), { admitted: 'yes' }),
      )
      got[code] = nameOf(error)
      shown.push(renderToolError(toToolError(error)))
    }
    expect(shown.filter((text) => text.includes('secret'))).toEqual([])
    expect(got).toEqual(expected)
  })

  test('tells whether it may have run', async () => {
    const admissions: readonly CallAdmission[] = ['no', 'yes', 'unknown']
    const told = admissions.map(async (admitted) => {
      const error = await provoke(operation, new DriverError('interrupted', 'x', { admitted }))
      return (error as { admitted?: string }).admitted
    })
    expect(await Promise.all(told)).toEqual(['no', 'unknown', 'unknown'])
  })

  test('names the path of the workspace, where it is about a file', async () => {
    const error = await provoke(operation, new DriverError('denied', 'x', { admitted: 'yes' }))
    expect(FileSystemError.isInstance(error)).toBe(true)
    expect((error as FileSystemError).path).toMatch(/^\/(?:$|d(?:\/|$))/)
  })

  test('lets an error through that is not of a driver', async () => {
    const reason = new Error('stopped by the caller')
    expect(await provoke(operation, reason)).toBe(reason)
  })
})

const again = { retryAfterMs: 3 }
const takeNew = { hint: 'Take a new snapshot.', transient: false }

test.each<[DriverErrorCode, string, object]>([
  [
    'unavailable',
    'the sandbox is not available now',
    { ...again, hint: 'It may pass: try again later.', transient: true },
  ],
  ['interrupted', 'the sandbox went away', { admitted: 'unknown' }],
  ['replaced', 'the sandbox went away', { admitted: 'unknown' }],
  [
    'directory-missing',
    'the working directory is missing or not a directory',
    { hint: 'Make the directory, or use another one.' },
  ],
  [
    'context-missing',
    'there is no code context of this id any more',
    { hint: 'Create a new context and run again what it needs.' },
  ],
  [
    'process-missing',
    'there is no background process of this id any more',
    { hint: 'Background processes end with the container; list those that run.' },
  ],
  [
    'language-missing',
    'the image of the sandbox has no interpreter for it',
    { hint: 'Use another language.' },
  ],
  ['snapshot-missing', 'the snapshot does not exist any more', { ...takeNew, ...again }],
  ['snapshot-expired', 'the snapshot has expired', { ...takeNew, ...again }],
  ['snapshot-too-large', 'the snapshot is over the limit of a restore', { ...takeNew, ...again }],
  [
    'snapshot-failed',
    'the snapshot could not be taken or restored',
    { ...again, transient: false },
  ],
  [
    'snapshot-elsewhere',
    'the workspace is a link to a place of which there are no snapshots',
    {
      ...again,
      hint: 'Keep the files in /workspace itself, or below /home, /tmp, /var/tmp or /app.',
      transient: false,
    },
  ],
  [
    'not-configured',
    'the sandbox is not set up: X is missing',
    { hint: 'An operator must add what is missing to the Worker.' },
  ],
  [
    'destroy-unconfirmed',
    'the platform did not confirm the end of the sandbox',
    { ...again, transient: true },
  ],
  ['failed', 'the sandbox could not do it', { ...again, transient: false }],
])('%s is told in our words, with what to do', (code, message, more) => {
  const cause = new DriverError(code, 'X is missing', { admitted: 'yes', retryAfterMs: 3 })
  expect(toWorkspaceError(cause)).toMatchObject({ message, cause, ...more })
})

test('an operation that found no container is repeated by the registry', async () => {
  const error = new DriverError('unavailable', 'x', { admitted: 'no', reason: 'starting' })
  expect(nameOf(await provoke('run', error))).toBe('WorkspaceEvictedError evicted')
})

test('a call without an answer ends at its deadline, its outcome unknown', async () => {
  const bench = new Bench({}, { callTimeoutMs: 5000, defaultTimeoutMs: 1000 })
  const { ws } = await bench.open()
  bench.world.onCall = () => new Promise(() => {})
  for (const [operation, call] of Object.entries(operations)) {
    if (operation === 'writeStream' || operation === 'snapshot') continue
    const settled = call(ws).catch((each: unknown) => each)
    await bench.clock.advance(60_000)
    expect([operation, nameOf(await settled)]).toEqual([operation, 'WorkspaceEvictedError evicted'])
  }
})

test.each([
  ['python3', 'Use another language. An operator must install Python in the Dockerfile'],
  ['node', 'Use another language. An operator must install Node 24 in the Dockerfile'],
  ['bun', 'Use another language. An operator must install Node 22.13 or newer, or Bun'],
])('an image without %s is mended by an operator', (missing, hint) => {
  const error = new DriverError('language-missing', 'x', { admitted: 'no', missing })
  const mapped = toWorkspaceError(error)
  expect(mapped).toMatchObject({
    message: `the image of the sandbox has no ${missing}`,
    cause: error,
  })
  expect((mapped as HelixError).hint?.startsWith(hint)).toBe(true)
})

test('an image without what nobody knows has no such advice', () => {
  for (const [missing, message] of [
    [undefined, 'the image of the sandbox has no interpreter for it'],
    ['ruby', 'the image of the sandbox has no ruby'],
  ] as const) {
    const details = { admitted: 'no' as const, ...(missing !== undefined && { missing }) }
    const mapped = toWorkspaceError(new DriverError('language-missing', 'x', details))
    expect(mapped).toMatchObject({ message, hint: 'Use another language.' })
  }
})

test('an open that may pass is transient, and says how long to wait', () => {
  const memory = { admitted: 'no' as const, reason: 'memory' as const, retryAfterMs: 7 }
  for (const code of ['unavailable', 'interrupted', 'replaced'] as const) {
    const cause = new DriverError(code, 'x', memory)
    expect(toOpenError(cause)).toMatchObject({
      code: 'provider-failed',
      message: 'the sandbox is not available now',
      transient: true,
      retryAfterMs: 7,
      hint: 'It ran out of memory: use less of it at once.',
      cause,
    })
    const other = toOpenError(new DriverError(code, 'x', { admitted: 'no' }))
    expect(other).toMatchObject({ hint: 'It may pass: try again later.', transient: true })
    expect((other as { retryAfterMs?: number }).retryAfterMs).toBeUndefined()
  }
  const denied = new DriverError('denied', 'x', { admitted: 'yes' })
  expect(toOpenError(denied)).toMatchObject({ code: 'permission-denied', path: '/', cause: denied })
  const odd = new Error('x')
  expect([toOpenError(odd), toWorkspaceError(odd)]).toEqual([odd, odd])
})

test('a sandbox that ran out of memory says so', () => {
  expect(gone('memory')).toMatchObject({ hint: 'It ran out of memory: use less of it at once.' })
  expect((gone() as HelixError).hint).not.toBe('It ran out of memory: use less of it at once.')
})

test('only a platform without room is one of capacity', () => {
  const capacity = { admitted: 'no', reason: 'capacity' } as const
  expect(
    [
      new DriverError('unavailable', 'x', capacity),
      new DriverError('interrupted', 'x', capacity),
      new DriverError('unavailable', 'x', { admitted: 'no', reason: 'starting' }),
      new Error('x'),
    ].map(isCapacityError),
  ).toEqual([true, false, false, false])
})
