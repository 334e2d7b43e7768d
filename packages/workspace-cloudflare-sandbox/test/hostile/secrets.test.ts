// What an SDK that fails everywhere, in the worst of words, lets out of the provider: no error, log
// line, ref or receipt may hold a variable, a key, or a signed address.
import { inspect } from 'node:util'
import { type Clock, systemClock } from '@helix-agents/core'
import type { OpenedWorkspace, Workspace } from '@helix-agents/core/provider'
import { RecordingLogger } from '@helix-agents/core/testing'
import { createSdkDriver } from '@helix-agents/workspace-cloudflare-sandbox'
import { expect, test } from 'vitest'
import type { SandboxStub } from '../../src/driver/sdk-0-12/stub.ts'
import { Bench } from '../double/open-on-double.ts'

const VARIABLE = 'sk-variable-4711'
const OF_COMMAND = 'sk-command-4712'
const KEY = 'sk-key-4713'
const SIGNATURE = 'sk-signature-4714'
const SECRETS = [VARIABLE, OF_COMMAND, KEY, SIGNATURE]

const SIGNED = `https://account.example/bucket/backups/1/data.sqsh?X-Amz-Signature=${SIGNATURE}&x=1`
const KEYED = `https://${KEY}:${KEY}@s3.example/bucket`
const IN_PATH = `https://hooks.example/${KEY}/bucket`

type Throw = (script: string) => unknown

const response = (code: string, text: string, context: object): Error =>
  Object.assign(new Error(text), {
    name: 'SandboxError',
    errorResponse: { code, message: text, context, httpStatus: 500, suggestion: text },
    details: context,
  })

/** The whole of what the SDK was asked, as its errors repeat it. */
const failures: readonly (readonly [name: string, fail: Throw])[] = [
  ['a plain error', (script) => new Error(`cannot run: ${script}`)],
  ['a text', (script) => `\n${script} ${SIGNED}`],
  [
    'a refused command',
    (script) => response('COMMAND_EXECUTION_ERROR', `posix_spawn ${script}`, { script }),
  ],
  [
    'an interruption',
    (script) =>
      response('OPERATION_INTERRUPTED', `PUT ${SIGNED} was cut off`, {
        admitted: 'unknown',
        operation: script,
        reason: 'transport_disposed',
      }),
  ],
  ['no container', (script) => response('CONTAINER_UNAVAILABLE', `GET ${KEYED}`, { script })],
  ['a lost connection', () => new Error(`Network connection lost: ${IN_PATH} and ${KEYED}`)],
  [
    'a bad mount',
    (script) => response('INVALID_MOUNT_CONFIG', `no ${KEYED} ${IN_PATH}`, { script }),
  ],
  ['a bad backup', () => response('BACKUP_CREATE_FAILED', `curl ${SIGNED}: 403`, { url: SIGNED })],
  ['causes', (script) => new Error('no', { cause: new Error(script, { cause: KEYED }) })],
  ['marks', (script) => Object.assign(new Error(IN_PATH), { retryable: true, stack: script })],
]

/** A sandbox that answers its first question, and fails from then on. */
function failingStub(fail: Throw): { readonly stub: SandboxStub; readonly breaks: () => void } {
  let isBroken = false
  const attempt =
    (answer: unknown) =>
    async (...given: readonly unknown[]): Promise<unknown> => {
      if (isBroken) throw fail(inspect(given, { depth: 9 }))
      return answer
    }
  const exec = async (script: string): Promise<unknown> => {
    if (isBroken) throw fail(script)
    const [, nonce = ''] = /%%([0-9a-f]+) /.exec(script) ?? []
    return { stdout: `\n%${nonce} kept e1\n`, stderr: '', exitCode: 0 }
  }
  const answers = { getState: { status: 'healthy', lastChange: 0 }, getContainerPlacementId: null }
  const stub = new Proxy(
    {},
    {
      get: (_, name) => {
        if (name === 'then') return undefined
        return name === 'exec' ? exec : attempt(Reflect.get(answers, name))
      },
    },
  ) as SandboxStub
  return { stub, breaks: () => void (isBroken = true) }
}

/** Time does not pass between two attempts. */
const hurried: Clock = {
  now: () => systemClock.now(),
  setTimer: (ms, callback) => systemClock.setTimer(ms, callback),
  sleep: async () => {},
}

const stream = (): ReadableStream<Uint8Array> => new Blob(['x'.repeat(300_000)]).stream()
const env = { SECOND: OF_COMMAND }
const calls: readonly ((ws: Workspace) => Promise<unknown>)[] = [
  ({ fs }) => fs!.readFile('/a'),
  async ({ fs }) => new Response(await fs!.readStream('/a')).text(),
  ({ fs }) => fs!.writeFile('/a', 'x'),
  ({ fs }) => fs!.writeFile('/a', 'x'.repeat(300_000)),
  ({ fs }) => fs!.writeStream('/a', stream()),
  ({ fs }) => fs!.appendFile('/a', 'x'.repeat(2_000_000)),
  ({ fs }) => fs!.ls('/'),
  ({ fs }) => fs!.grep('x'),
  ({ fs }) => fs!.rm('/a'),
  ({ fs }) => fs!.move('/a', '/b'),
  ({ shell }) => shell!.run('make', { env }),
  ({ shell }) => shell!.run(`: ${'x'.repeat(125_000)}`, { env }),
  ({ shell }) => shell!.run('make', { env, onStdout: async () => {} }),
  ({ shell }) => shell!.start!('make', { env }),
  ({ shell }) => shell!.list!(),
  ({ code }) => code!.runCode('python', '1'),
  ({ code }) => code!.deleteContext!('c1' as never),
  ({ snapshot }) => snapshot!.snapshot(),
  (ws) => ws.close(),
]

/** All that can be seen of it, hidden and inherited fields included. */
const whole = (value: unknown): string =>
  inspect(value, { depth: 20, showHidden: true, maxStringLength: Infinity, maxArrayLength: 1000 })

function leaked(values: readonly unknown[]): string[] {
  const text = values.map((value) => `${whole(value)} ${JSON.stringify(value)}`).join('\n')
  return SECRETS.filter((secret) => text.includes(secret))
}

interface Scene {
  readonly bench: Bench
  readonly logger: RecordingLogger
  readonly open: () => Promise<OpenedWorkspace>
  readonly breaks: () => void
}

function createScene(fail: Throw): Scene {
  const { stub, breaks } = failingStub(fail)
  const config = {
    env: { TOKEN: VARIABLE },
    backupR2Binding: 'BACKUP_BUCKET',
    mounts: [{ bucket: 'FILES', path: '/workspace/data' }],
    destroyOnClose: true,
  } as const
  const driver = createSdkDriver({ source: { connect: () => stub }, clock: hurried })
  const bench = new Bench(config, { driver, clock: hurried })
  const logger = new RecordingLogger()
  return { bench, logger, open: () => bench.open({ logger }), breaks }
}

test.each(failures)(
  '%s tells no secret',
  async (_, fail) => {
    const scene = createScene(fail)
    const opened = await scene.open()
    scene.breaks()
    const attempts = [
      ...calls.map((call) => () => call(opened.ws)),
      () => scene.open(),
      () => scene.bench.resolve(opened.ref, { logger: scene.logger }),
    ]
    const told: unknown[] = []
    for (const attempt of attempts) {
      const [result] = await Promise.allSettled([attempt()])
      told.push(result.status === 'rejected' ? result.reason : result.value)
    }
    expect(told).toHaveLength(attempts.length)
    expect(leaked([...told, opened.ref, opened.receipt, ...scene.logger.lines])).toEqual([])
  },
  120_000,
)
