import type { OpenedWorkspace } from '@helix-agents/core/provider'
import { workspaceModules } from '@helix-agents/core/runtime'
import { check, equal, rejectsAborted, rejectsWithCode } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import { names, read } from '../file-system/files.ts'
import { filesOf, type ProviderSubject } from './provider-subject.ts'

/** A clause about a provider. */
export type ProviderBehaviour = Behaviour<ProviderSubject>

/** Codes of a backend that is not there. */
export const GONE = ['lost', 'evicted'] as const

function hex(text: string): string {
  return [...new TextEncoder().encode(text)].map((byte) => byte.toString(16)).join('')
}

/**
 * Session ids that a careless mapping to names of the backend would make equal.
 * @param mark In each of them: a backend that makes paths of them as they are meets nothing.
 */
function lookAlikes(mark: string): string[] {
  const endings = ['a-b', 'a_b', 'a/b', 'a b', 'A-b', 'a%2Fb', 'a.b', 'a--b', 'a-b/', '\u00e4-b']
  const long = `${mark}-${'long'.repeat(50)}`
  return [
    ...endings.map((ending) => `${mark}-${ending}`),
    `../${mark}-a-b`,
    `s_${hex(`${mark}-a-b`)}`,
    `${long}x`,
    `${long}y`,
  ]
}

/** Clauses about open, resolve, detach, close and eviction. */
export const lifecycleBehaviours: readonly ProviderBehaviour[] = [
  {
    id: 'lifecycle/open/is-created-with-a-ref',
    run: async (subject) => {
      const { ref, receipt, ws } = await subject.open()
      equal(receipt.outcome, 'created')
      equal(ref.providerId, subject.provider.providerId)
      equal(ref.schemaVersion, subject.provider.refSchemaVersion)
      check(ws.id.length > 0, 'an id')
    },
  },
  {
    id: 'lifecycle/open/the-id-is-the-kind',
    run: async (subject) => equal(subject.provider.providerId, subject.harness.config.kind),
  },
  {
    id: 'lifecycle/open/has-every-module-it-declares',
    run: async (subject) => {
      const { ref, ws } = await subject.open()
      for (const { name } of Object.values(workspaceModules)) {
        const declared = subject.provider.capabilities[name] === true
        equal([name, ws[name] !== undefined], [name, declared])
        equal([name, ref.capabilities[name] === true], [name, declared])
      }
    },
  },
  {
    id: 'lifecycle/open/an-aborted-signal-opens-nothing',
    run: async (subject) => {
      const reason = new Error('stopped by the test')
      const signal = AbortSignal.abort(reason)
      await rejectsAborted(reason, () => subject.open({ signal }))
    },
  },
  {
    id: 'lifecycle/open/ten-at-once-are-ten',
    slow: true,
    run: async (subject) => {
      const sessions = Array.from({ length: 10 }, (_, index) => ({
        sessionId: subject.session(String(index)),
      }))
      const opened = await Promise.all(sessions.map((session) => subject.open(session)))
      equal(
        countDistinct(opened, (one) => one.ws.id),
        10,
      )
      equal(
        countDistinct(opened, (one) => JSON.stringify(one.ref.ref)),
        10,
      )
    },
  },
  {
    id: 'lifecycle/detach/keeps-the-files',
    needs: ['fs'],
    run: async (subject) => {
      const { ref, ws } = await subject.open()
      await filesOf(ws).writeFile('/d/a', 'kept')
      await ws.detach?.()
      const again = await subject.resolve(ref)
      equal(again.receipt.outcome, 'reattached')
      equal(await read(filesOf(again.ws), '/d/a'), 'kept')
      equal(again.ws.id, ws.id)
    },
  },
  {
    id: 'lifecycle/detach/twice-is-fine',
    run: async (subject) => {
      const { ref, ws } = await subject.open()
      await ws.detach?.()
      await ws.detach?.()
      equal((await subject.resolve(ref)).receipt.outcome, 'reattached')
    },
  },
  {
    id: 'lifecycle/resolve/is-the-same-workspace',
    needs: ['fs'],
    run: async (subject) => {
      const { ref, ws } = await subject.open()
      const second = await subject.resolve(ref)
      await filesOf(ws).writeFile('/a', 'from the first')
      equal(await read(filesOf(second.ws), '/a'), 'from the first')
    },
  },
  {
    id: 'lifecycle/resolve/gives-the-same-ref',
    run: async (subject) => {
      const { ref, ws } = await subject.open()
      await ws.detach?.()
      equal((await subject.resolve(ref)).ref, ref)
    },
  },
  {
    id: 'lifecycle/resolve/an-aborted-signal-attaches-nothing',
    run: async (subject) => {
      const { ref } = await subject.open()
      const reason = new Error('stopped by the test')
      const signal = AbortSignal.abort(reason)
      await rejectsAborted(reason, () => subject.resolve(ref, { signal }))
    },
  },
  {
    id: 'lifecycle/resolve/a-new-process-has-the-files-or-says-so',
    needs: ['fs'],
    run: async (subject) => {
      const { ref, ws } = await subject.open()
      await filesOf(ws).writeFile('/a', 'kept')
      await ws.detach?.()
      const provider = await subject.restart()
      const attempt = await subject.resolve(ref, {}, provider).catch((error: unknown) => error)
      if (!isOpened(attempt)) {
        return rejectsWithCode([...GONE], () => Promise.reject(attempt))
      }
      const kept = (await names(filesOf(attempt.ws), '/')).includes('a')
      equal(kept, attempt.receipt.outcome !== 'cold')
    },
  },
  {
    id: 'lifecycle/close/twice-is-fine',
    run: async (subject) => {
      const { ws } = await subject.open()
      await ws.close()
      await ws.close()
    },
  },
  {
    id: 'lifecycle/close/after-detach-is-fine',
    run: async (subject) => {
      const { ws } = await subject.open()
      await ws.detach?.()
      await ws.close()
    },
  },
  {
    id: 'lifecycle/close/leaves-nothing-to-resolve',
    run: async (subject) => {
      const { ref, ws } = await subject.open()
      await ws.close()
      await rejectsWithCode([...GONE], () => subject.resolve(ref))
    },
  },
  {
    id: 'lifecycle/close/later-calls-are-rejected',
    needs: ['fs'],
    run: async (subject) => {
      const { ws } = await subject.open()
      await filesOf(ws).writeFile('/a', 'x')
      await ws.close()
      const codes = ['closed', ...GONE]
      await rejectsWithCode(codes, () => filesOf(ws).readFile('/a'))
      await rejectsWithCode(codes, () => filesOf(ws).writeFile('/a', 'y'))
      await rejectsWithCode(codes, () => filesOf(ws).ls('/'))
    },
  },
  {
    id: 'lifecycle/close/leaves-other-workspaces-alone',
    needs: ['fs'],
    run: async (subject) => {
      const first = await subject.open({ workspace: subject.workspace('first') })
      const second = await subject.openFiles({ workspace: subject.workspace('second') })
      await second.writeFile('/a', 'x')
      await first.ws.close()
      equal(await read(second, '/a'), 'x')
    },
  },
  {
    id: 'lifecycle/evicted/calls-say-so',
    needs: ['fs'],
    run: async (subject) => {
      const { ref, ws } = await subject.open()
      await filesOf(ws).writeFile('/a', 'x')
      await subject.evict(ref)
      await rejectsWithCode([...GONE], () => filesOf(ws).readFile('/a'))
      await rejectsWithCode([...GONE], () => filesOf(ws).ls('/'))
    },
  },
  {
    id: 'lifecycle/evicted/resolve-says-what-is-left',
    needs: ['fs'],
    run: async (subject) => {
      const { ref, ws } = await subject.open()
      await filesOf(ws).writeFile('/a', 'x')
      await subject.evict(ref)
      const attempt = await subject.resolve(ref).catch((error: unknown) => error)
      if (!isOpened(attempt)) {
        return rejectsWithCode([...GONE], () => Promise.reject(attempt))
      }
      const kept = (await names(filesOf(attempt.ws), '/')).includes('a')
      equal(attempt.receipt.outcome, kept ? 'restored' : 'cold')
    },
  },
  {
    id: 'lifecycle/sharing/two-sessions-never-share',
    needs: ['fs'],
    run: async (subject) => {
      const first = await subject.openFiles({ sessionId: subject.session('1') })
      const second = await subject.openFiles({ sessionId: subject.session('2') })
      await first.writeFile('/a', 'of the first')
      equal(await names(second, '/'), [])
    },
  },
  {
    id: 'lifecycle/sharing/two-names-of-one-session-never-share',
    needs: ['fs'],
    run: async (subject) => {
      const name = subject.workspace('notes')
      const first = await subject.openFiles({ workspace: name })
      const second = await subject.openFiles({ workspace: `${name}-2` })
      await first.writeFile('/a', 'of the first')
      equal(await names(second, '/'), [])
    },
  },
  {
    id: 'lifecycle/sharing/look-alike-sessions-never-share',
    needs: ['fs'],
    slow: true,
    run: async (subject) => {
      const opened = []
      for (const sessionId of lookAlikes(subject.session('x')))
        opened.push(await subject.openFiles({ sessionId }))
      for (const [index, fs] of opened.entries()) await fs.writeFile(`/file-${index}`, 'x')
      for (const [index, fs] of opened.entries()) equal(await names(fs, '/'), [`file-${index}`])
    },
  },
]

function countDistinct(
  opened: readonly OpenedWorkspace[],
  key: (one: OpenedWorkspace) => string,
): number {
  return new Set(opened.map(key)).size
}

function isOpened(value: unknown): value is OpenedWorkspace {
  return typeof value === 'object' && value !== null && 'ws' in value && 'receipt' in value
}
