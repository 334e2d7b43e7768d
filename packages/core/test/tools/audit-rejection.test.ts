import { expect, test } from 'vitest'
import { FileSystemError } from '../../src/errors/file-system-error.ts'
import { PolicyError } from '../../src/errors/policy-error.ts'
import { logMessages } from '../../src/logging/log-messages.ts'
import type { CapabilitiesInput } from '../../src/modules/list.ts'
import { WorkspaceRegistry } from '../../src/registry/workspace-registry.ts'
import { createRecordingMetrics, ManualClock, RecordingLogger } from '../../src/testing/index.ts'
import { injectWorkspaceTools } from '../../src/tools/inject-workspace-tools.ts'
import type { WorkspaceProvider } from '../../src/workspace/provider.ts'
import { MapFileSystem } from '../modules/fs/map-file-system.ts'
import { declare, StubAgent } from './stub-context.ts'

const unreached = () => Promise.reject(new Error('must not be reached'))
const foreign = () => Promise.reject(new PolicyError('cross-session', 'of another session'))

/** The tools of one workspace on a real registry, whose log and metrics are kept. */
function createBox(declared: CapabilitiesInput) {
  const fs = new MapFileSystem()
  const modules = {
    fs,
    shell: { run: unreached },
    code: { languages: ['python', 'bash'], isStateful: false, runCode: unreached },
    snapshot: { snapshot: unreached, restore: foreign, branch: foreign },
  }
  const flags = { fs: true, shell: true, code: true, snapshot: true }
  const provider: WorkspaceProvider = {
    providerId: 'stub',
    capabilities: flags,
    refSchemaVersion: 1,
    open: async () => ({
      ws: { id: 'w1', isolation: 'none', close: async () => {}, ...modules },
      ref: { providerId: 'stub', schemaVersion: 1, capabilities: flags, ref: {} },
      receipt: { outcome: 'created' },
    }),
    resolve: unreached,
  }
  const logger = new RecordingLogger()
  const metrics = createRecordingMetrics()
  const declaration = declare(declared)
  const registry = new WorkspaceRegistry(
    { box: declaration },
    {
      providers: new Map([['stub', provider]]),
      session: { sessionId: 's1', agentType: 'tester' },
      persistRef: async () => {},
      logger,
      metrics,
      clock: new ManualClock(),
    },
  )
  const tools = injectWorkspaceTools({ box: declaration }, () => ({ branch: true }))
  const context = { ...new StubAgent({}, {}).context, workspaces: registry }
  const call = async (name: string, input: unknown): Promise<unknown> => {
    const tool = tools.find((each) => each.name === `workspace__box__${name}`)!
    const run = async () => tool.execute(await tool.parse(input), context)
    return run().then(
      () => 'no error',
      (error: unknown) => (error as { code: string }).code,
    )
  }
  return { call, fs, logger, metrics, registry }
}

const ref = { providerId: 'stub', ref: { id: 'snap-1', session: 'other' } }
const rules = [{ pattern: '/keys/**', access: 'none' as const }]
const commands = { allowedCommands: ['ls'] }

test.each<[code: string, message: string, CapabilitiesInput, tool: string, input: object]>([
  [
    'command-not-allowed',
    logMessages.commandNotInAllowlist,
    { shell: commands },
    'run',
    { command: 'rm x' },
  ],
  [
    'shell-metacharacter',
    logMessages.shellMetacharacterRejected,
    { shell: commands },
    'run',
    { command: 'ls; rm' },
  ],
  ['expansion', logMessages.expansionRejected, { shell: commands }, 'run', { command: 'ls *' }],
  [
    'language-not-allowed',
    logMessages.languageNotAllowed,
    { code: { languages: ['python'] } },
    'run_code',
    { language: 'bash', code: 'x' },
  ],
  [
    'path-denied',
    logMessages.pathDenied,
    { fs: { pathRules: rules } },
    'read_file',
    { path: '/keys/a' },
  ],
  [
    'path-escape',
    logMessages.pathEscapeRejected,
    { fs: true },
    'read_file',
    { path: '../../etc/passwd' },
  ],
  [
    'path-escape',
    logMessages.pathEscapeRejected,
    { fs: true },
    'write_file',
    { path: '../x', content: 'x' },
  ],
  ['path-escape', logMessages.pathEscapeRejected, { fs: true }, 'ls', { path: '/a/../..' }],
  ['path-escape', logMessages.pathEscapeRejected, { fs: true }, 'glob', { pattern: '../*' }],
  [
    'read-only',
    logMessages.readOnlyRejected,
    { fs: { readOnly: true } },
    'write_file',
    { path: '/a', content: 'x' },
  ],
  ['read-only', logMessages.readOnlyRejected, { fs: { readOnly: true } }, 'mkdir', { path: '/a' }],
  ['read-only', logMessages.readOnlyRejected, { fs: { readOnly: true } }, 'rm', { path: '/a' }],
  ['cross-session', logMessages.crossSessionSnapshot, { snapshot: true }, 'restore', { ref }],
  ['cross-session', logMessages.crossSessionSnapshot, { snapshot: true }, 'branch', { ref }],
])('%s is warned of once, by its fixed text, and counted every time', async (...row) => {
  const [code, message, declared, tool, input] = row
  const { call, logger, metrics, registry } = createBox(declared)
  const codes = [await call(tool, input), await call(tool, input), await call(tool, input)]
  expect(codes).toEqual([code, code, code])
  const place = { workspace: 'box', providerId: 'stub' }
  expect(metrics.calls('incPolicyRejection')).toEqual(codes.map(() => [place, code]))
  expect(logger.with(message)).toMatchObject([
    { level: 'warn', fields: { ...place, sessionId: 's1' } },
  ])
  await registry.close({ mode: 'end' })
  expect(logger.with(`[rate-limited] ${message}`)).toMatchObject([
    { fields: { suppressedCount: 2 } },
  ])
})

test('a change that the provider itself refuses is a refusal too', async () => {
  const { call, fs, logger, metrics } = createBox({ fs: true })
  fs.writeFile = (path) => Promise.reject(new FileSystemError('read-only', path))
  expect(await call('write_file', { path: '/a', content: 'x' })).toBe('read-only')
  expect(logger.with(logMessages.readOnlyRejected)).toMatchObject([{ fields: { path: '/a' } }])
  expect(metrics.count('incPolicyRejection')).toBe(1)
})

test('what is no refusal is not audited', async () => {
  const { call, metrics, logger } = createBox({ fs: true })
  expect(await call('read_file', { path: '/none' })).toBe('not-found')
  expect(metrics.count('incPolicyRejection')).toBe(0)
  expect(logger.lines.filter(({ level }) => level === 'warn')).toEqual([])
})

test('a flood of different paths stays short in the log', async () => {
  const { call, logger } = createBox({ fs: true })
  const long = 'x'.repeat(1000)
  expect(await call('read_file', { path: `../${long}` })).toBe('path-escape')
  const [line] = logger.with(logMessages.pathEscapeRejected)
  expect(String(line?.fields.path)).toHaveLength(200)
})
