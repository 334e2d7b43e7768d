import { FileSystemError, WorkspaceEvictedError, WorkspaceFailedError } from '@helix-agents/core'
import type { OpenedWorkspace, SessionRef, WorkspaceRef } from '@helix-agents/core/provider'
import { CAPABILITIES, SECRET } from '../reference/provider.ts'
import {
  harness,
  lenient,
  opened,
  provider,
  type ProviderSaboteur,
  workspace,
} from './break-provider.ts'
import { omit } from './omit.ts'

/** One workspace for everything with the same key. */
const sharesBy = (key: (session: SessionRef, name: string) => string): ProviderSaboteur =>
  provider((good) => {
    const known = new Map<string, Promise<OpenedWorkspace>>()
    return {
      open: (config, session, options) => {
        const id = key(session, options.workspace)
        const shared = known.get(id) ?? good.open(config, session, options)
        known.set(id, shared)
        return shared
      },
    }
  })

const resolvesToNew = provider((good, { config }) => ({
  resolve: async (_, options) => ({
    ...(await good.open(config, options.session, options)),
    receipt: { outcome: 'reattached' },
  }),
}))

const closesNothing = workspace(() => ({ close: async () => {} }))

const closesTwiceBadly = workspace((ws) => {
  let closed = false
  return {
    close: async () => {
      if (closed) throw new WorkspaceFailedError('closed', 'closed twice')
      closed = true
      await ws.close()
    },
  }
})

const ignoresSignal = new AbortController().signal

export const lifecycleSaboteurs: Readonly<Record<string, ProviderSaboteur>> = {
  'lifecycle/open/is-created-with-a-ref': opened((value) => ({
    ...value,
    receipt: { outcome: 'reattached' },
  })),
  'lifecycle/open/the-id-is-the-kind': harness(() => ({ config: { kind: 'other' } })),
  'lifecycle/open/has-every-module-it-declares': opened((value) => ({
    ...value,
    ws: omit(value.ws, 'snapshot'),
  })),
  'lifecycle/open/an-aborted-signal-opens-nothing': provider((good) => ({
    open: (config, session, options) =>
      good.open(config, session, { ...options, signal: ignoresSignal }),
  })),
  'lifecycle/open/ten-at-once-are-ten': sharesBy(() => 'all'),
  'lifecycle/detach/keeps-the-files': workspace((ws) => ({
    detach: () => ws.fs!.rm('/', { recursive: true }),
  })),
  'lifecycle/detach/twice-is-fine': workspace((ws) => ({ detach: () => ws.close() })),
  'lifecycle/resolve/is-the-same-workspace': resolvesToNew,
  'lifecycle/resolve/gives-the-same-ref': resolvesToNew,
  'lifecycle/resolve/an-aborted-signal-attaches-nothing': provider((good) => ({
    resolve: (ref, options) => good.resolve(ref, { ...options, signal: ignoresSignal }),
  })),
  'lifecycle/resolve/a-new-process-has-the-files-or-says-so': harness((good) => ({
    restart: async () => {
      const { provider: fresh, config } = good
      return {
        ...fresh,
        resolve: async (_, options) => ({
          ...(await fresh.open(config, options.session, options)),
          receipt: { outcome: 'reattached' },
        }),
      }
    },
  })),
  'lifecycle/close/twice-is-fine': closesTwiceBadly,
  'lifecycle/close/after-detach-is-fine': workspace((ws) => {
    let detached = false
    return {
      detach: async () => {
        detached = true
      },
      close: async () => {
        if (detached) throw new WorkspaceFailedError('closed', 'detached already')
        await ws.close()
      },
    }
  }),
  'lifecycle/close/leaves-nothing-to-resolve': closesNothing,
  'lifecycle/close/later-calls-are-rejected': closesNothing,
  'lifecycle/close/leaves-other-workspaces-alone': provider((good) => {
    const closes: (() => Promise<void>)[] = []
    return {
      open: async (...args) => {
        const value = await good.open(...args)
        closes.push(() => value.ws.close())
        const close = async (): Promise<void> => {
          for (const one of closes) await one()
        }
        return { ...value, ws: { ...value.ws, close } }
      },
    }
  }),
  'lifecycle/evicted/calls-say-so': harness(() => ({ evict: async () => {} })),
  'lifecycle/evicted/resolve-says-what-is-left': harness(() => ({ evict: async () => {} })),
  'lifecycle/sharing/two-sessions-never-share': sharesBy((_, name) => name),
  'lifecycle/sharing/two-names-of-one-session-never-share': sharesBy(({ sessionId }) => sessionId),
  'lifecycle/sharing/look-alike-sessions-never-share': sharesBy(({ sessionId }) =>
    sessionId.toLowerCase().replaceAll(/[^a-z0-9]/g, '_'),
  ),
}

const idOf = (ref: WorkspaceRef): unknown => (ref.ref as { id?: unknown } | null)?.id

/** Reads only what it knows, whatever else there is. */
const readsLoosely = lenient((ref) => ({
  providerId: ref.providerId,
  schemaVersion: ref.schemaVersion,
  capabilities: CAPABILITIES,
  ref: { id: idOf(ref) },
}))

const anyVersion = lenient((ref) => ({ ...ref, schemaVersion: 3 }))

const exactVersion = provider((good) => ({
  resolve: async (ref, options) => {
    if (ref.schemaVersion !== good.refSchemaVersion) {
      throw new WorkspaceFailedError('ref-version', 'another version')
    }
    return good.resolve(ref, options)
  },
}))

export const refSaboteurs: Readonly<Record<string, ProviderSaboteur>> = {
  'refs/json/survives-a-round-trip': opened((value) => ({
    ...value,
    ref: { ...value.ref, ref: { id: idOf(value.ref), openedAt: new Date(0) } },
  })),
  'refs/json/holds-no-secret': opened((value) => ({
    ...value,
    ref: { ...value.ref, ref: { id: idOf(value.ref), token: SECRET } },
  })),
  'refs/version/the-previous-one-is-read': exactVersion,
  'refs/version/of-the-next-one-what-is-known-is-read': exactVersion,
  'refs/version/two-ahead-is-rejected-by-name': exactVersion,
  'refs/version/far-ahead-is-rejected-by-name': anyVersion,
  'refs/version/two-behind-is-rejected': anyVersion,
  'refs/invalid/an-unknown-field': readsLoosely,
  'refs/invalid/a-prototype-key': readsLoosely,
  'refs/invalid/a-wrong-type': lenient((ref) => ({ ...ref, capabilities: CAPABILITIES })),
  'refs/invalid/a-wrong-payload': provider((good) => ({
    resolve: (ref, options) =>
      good.resolve(ref, options).catch(() => {
        throw new WorkspaceEvictedError('gone', { code: 'lost' })
      }),
  })),
  'refs/invalid/of-another-provider': lenient((ref) => ({ ...ref, providerId: 'reference' })),
  'refs/invalid/a-forged-payload-opens-nothing': provider((good, { config }) => ({
    resolve: (ref, options) =>
      good.resolve(ref, options).catch(() => good.open(config, options.session, options)),
  })),
  'config/valid/is-accepted': provider(() => ({
    parseConfig: () => {
      throw new WorkspaceFailedError('config-invalid', 'never right')
    },
  })),
  'config/invalid/every-unknown-field-is-named': provider((good) => ({
    parseConfig: (config) => {
      const { kind, unheardOf } = config as { kind: string; unheardOf: boolean }
      return good.parseConfig!({ kind, unheardOf })
    },
  })),
  'config/invalid/another-kind-or-no-object': provider(() => ({
    parseConfig: (config) => config as { kind: string },
  })),
}

const withoutLimit = provider((good) => ({
  open: (config, session, options) => good.open(config, session, { ...options, capabilities: {} }),
}))

export const isolationSaboteurs: Readonly<Record<string, ProviderSaboteur>> = {
  'isolation/level/is-declared': workspace(() => ({ isolation: 'perfect' as never })),
  'isolation/errors/are-for-the-model': workspace((ws) => ({
    fs: {
      ...ws.fs!,
      readFile: (path) =>
        ws.fs!.readFile(path).catch(() => {
          throw new FileSystemError('not-found', `/tmp/helix-1${path}`)
        }),
    },
  })),
  'isolation/files/of-another-session-are-out-of-reach': workspace((ws) => ({
    fs: { ...ws.fs!, glob: async () => ['/theirs.txt'] },
  })),
  'isolation/files/beside-the-workspace-are-out-of-reach': workspace((ws) => ({
    fs: {
      ...ws.fs!,
      rm: (path, options) =>
        ws.fs!.rm(path, options).catch((error: FileSystemError) => {
          throw new FileSystemError(error.code === 'path-escape' ? 'not-found' : error.code, path)
        }),
    },
  })),
  'isolation/commands/see-no-secret-of-the-host': workspace((ws) => ({
    shell: {
      ...ws.shell!,
      run: (command, options) => ws.shell!.run(command, { ...options, env: { TOKEN: SECRET } }),
    },
  })),
  'fs/limits/one-byte-below-at-and-above': withoutLimit,
  'fs/limits/count-bytes-not-characters': withoutLimit,
  'fs/limits/hold-for-appends': withoutLimit,
  'fs/limits/hold-for-streams': withoutLimit,
}
