// What is logged, counted and told of a workspace, each with the names of it and of its session.
import { describe, expect, test } from 'vitest'
import { PolicyError } from '../../src/errors/policy-error.ts'
import { WorkspaceFailedError } from '../../src/errors/workspace-failed-error.ts'
import { createContext } from '../../src/registry/registry-context.ts'
import { WorkspaceObserver } from '../../src/registry/observe.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { RecordingLogger } from '../../src/testing/recording-logger.ts'
import { createRecordingMetrics } from '../../src/testing/recording-metrics.ts'

const labels = { workspace: 'box', providerId: 'fake' }
const session = { sessionId: 's', agentType: 'a' }
const ref = { providerId: 'fake', schemaVersion: 1, capabilities: {}, ref: {} } as never
const names = { ...labels, sessionId: 's' }

function setup() {
  const [logger, metrics, heard] = [
    new RecordingLogger(),
    createRecordingMetrics(),
    [] as (readonly [string, unknown])[],
  ]
  const note = (name: string) => {
    return (event: unknown): void => void heard.push([name, event])
  }
  const context = createContext({
    session,
    logger,
    metrics,
    clock: new ManualClock(),
    providers: new Map(),
    persistRef: async () => {},
    lifecycle: {
      onOpen: note('open'),
      onActivity: note('activity'),
      onClose: note('close'),
      onOwed: note('owed'),
    },
  })
  return { logger, metrics, heard, observer: new WorkspaceObserver(labels, context) }
}

const failed = new WorkspaceFailedError('open-timeout', 'no')
const plain = new Error('no')

describe('a line of the log', () => {
  test.each<readonly [string, string, (observer: WorkspaceObserver) => void, string, object]>([
    ['warn', 'workspace lost', (one) => one.lost(plain), 'lost', { err: plain }],
    [
      'error',
      'workspace open failed',
      (one) => one.openFailed(failed),
      'openFailed',
      { code: 'open-timeout', err: failed },
    ],
    [
      'error',
      'workspace tool: eviction retry exhausted',
      (one) => one.evictionRetryExhausted(failed),
      'exhausted',
      { code: 'open-timeout', err: failed },
    ],
    [
      'error',
      'workspace tool: eviction retry exhausted',
      (one) => one.evictionRetryExhausted(plain),
      'exhausted by a plain error',
      { code: undefined, err: plain },
    ],
    [
      'error',
      'workspace close failed',
      (one) => one.closeFailed('end', plain),
      'closeFailed',
      { mode: 'end', err: plain },
    ],
    [
      'error',
      'workspace close timed out',
      (one) => one.closeTimedOut('detach', plain),
      'closeTimedOut',
      { mode: 'detach', err: plain },
    ],
  ])('at %s: %s', (...[level, message, act, , fields]) => {
    const { logger, observer } = setup()
    act(observer)
    expect(logger.lines).toStrictEqual([{ level, message, fields: { ...names, ...fields } }])
  })

  test('of a rejection has its fields', () => {
    const { logger, metrics, observer } = setup()
    const { code } = new PolicyError('path-denied', 'no')
    observer.rejected({ code, key: 'k', message: 'denied', fields: { path: '/a' } })
    expect(logger.lines).toEqual([
      { level: 'warn', message: 'denied', fields: { path: '/a', ...names } },
    ])
    expect(metrics.calls('incPolicyRejection')).toEqual([[labels, 'path-denied']])
  })
})

test('each event is counted by its names alone', () => {
  const { metrics, observer } = setup()
  const opened = { ws: { id: 'w' }, ref, receipt: { outcome: 'created' } } as never
  observer.moved('opening', 'declared')
  observer.openRetried()
  observer.opened(opened, 7)
  observer.openFailed(failed)
  observer.evicted()
  observer.evictionRetried()
  observer.closed('w', ref, 'end')
  observer.closeTimedOut('end', plain)
  const counted = [
    ['setState', 'opening', 'declared'],
    ['incTransientRetry'],
    ['incOpen', 'created'],
    ['observeOpenMs', 7],
    ['incOpenFailure', 'open-timeout'],
    ['incEviction'],
    ['incEvictionRetry'],
    ['incClose', 'end'],
    ['incCloseTimeout'],
  ] as const
  for (const [name, ...given] of counted) {
    expect([name, ...metrics.calls(name)]).toEqual([name, [labels, ...given]])
  }
})

test('who listens hears of each event, with what is known of the backend', () => {
  const { heard, observer } = setup()
  const receipt = { outcome: 'created' } as const
  observer.switched({ ws: { id: 'w' }, ref, receipt } as never)
  observer.operated('w', ref, { result: { timedOut: true } })
  observer.operated('w', ref, { result: null })
  observer.operated('w', undefined, {})
  observer.detached('w', ref)
  observer.closed('w', ref, 'end')
  observer.owed({ workspaceId: 'w', ref }, 'timeout')
  observer.owed({ ref: undefined }, 'failed')
  const base = { ...labels, session }
  const known = { ...base, workspaceId: 'w', ref }
  expect(heard).toStrictEqual([
    ['open', { ...known, receipt }],
    ['activity', { ...known, succeeded: true, timedOut: true }],
    ['activity', { ...known, succeeded: true, timedOut: false }],
    ['activity', { ...base, workspaceId: 'w', succeeded: false, timedOut: false }],
    ['close', { ...known, mode: 'detach' }],
    ['close', { ...known, mode: 'end' }],
    ['owed', { ...known, reason: 'timeout' }],
    ['owed', { ...base, reason: 'failed' }],
  ])
})
