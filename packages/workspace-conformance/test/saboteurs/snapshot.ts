import type { WorkspaceRef } from '@helix-agents/core/provider'
import { forks, type ProviderSaboteur, snapshotter } from './break-provider.ts'

/** Every fork is the same workspace. */
const sameFork = forks((fork) => {
  let known: Promise<WorkspaceRef> | undefined
  return (ref, options) => (known ??= fork(ref, options))
})

const trusting: ProviderSaboteur = forks(
  (fork, ws) => (ref, options) =>
    fork(ref, options).catch(async () => fork(await ws.snapshot!.snapshot(), options)),
)

const forkSaboteurs: Readonly<Record<string, ProviderSaboteur>> = {
  'brings-the-files-back': forks(
    (fork, ws) => async (_, options) => fork(await ws.snapshot!.snapshot(), options),
  ),
  'never-touches-the-current-one': forks((fork, ws) => async (ref, options) => {
    await ws.fs!.writeFile('/a', 'old')
    return fork(ref, options)
  }),
  'is-a-new-identity-each-time': sameFork,
  'two-forks-never-share': sameFork,
  'of-another-session-needs-consent': forks(
    (fork) => (ref, options) => fork(ref, { ...options, allowCrossSession: true }),
  ),
  'an-aborted-signal-forks-nothing': forks((fork) => (ref) => fork(ref)),
  'a-broken-ref-is-rejected': trusting,
  'a-forged-ref-brings-nothing': trusting,
}

const named = (method: string): Record<string, ProviderSaboteur> =>
  Object.fromEntries(
    Object.entries(forkSaboteurs).map(([name, saboteur]) => [
      `snapshot/${method}/${name}`,
      saboteur,
    ]),
  )

export const snapshotSaboteurs: Readonly<Record<string, ProviderSaboteur>> = {
  'snapshot/take/the-ref-survives-json': snapshotter((good) => ({
    snapshot: async () => ({ ...(await good.snapshot()), providerId: 'other' }),
  })),
  'snapshot/take/an-aborted-signal-takes-none': snapshotter((good) => ({
    snapshot: () => good.snapshot(),
  })),
  'snapshot/take/leaves-the-files-alone': snapshotter((good, ws) => ({
    snapshot: async () => {
      await ws.fs!.writeFile('/a', 'touched')
      return good.snapshot()
    },
  })),
  'snapshot/branch/exists-where-it-is-declared': snapshotter(() => ({
    branch: undefined as never,
  })),
  ...named('restore'),
  ...named('branch'),
}
