import type { Workspace } from '@helix-agents/core/provider'
import type { CloudflareSandboxWorkspaceProvider } from '@helix-agents/workspace-cloudflare-sandbox'
import {
  codeBehaviours,
  fileSystemBehaviours,
  ProviderSubject,
  shellBehaviours,
  workspaceBehaviours,
} from '@helix-agents/workspace-conformance'
import { conformanceConfig, EXTRAS, HOST_SECRETS } from './conformance-config.ts'

type MakeProvider = (options?: object) => CloudflareSandboxWorkspaceProvider
type OnWorkspace = (ws: Workspace) => Promise<void>
export type Transport = 'rpc' | 'http'

/** Leaves a link in the place of the workspace, which is no place for the next one. */
const REPLACES_ROOT = /^shell\/root\/replaced/
const onEmptyRoot = shellBehaviours.filter(({ id }) => !REPLACES_ROOT.test(id))

/** Behaviours that need no more than an empty workspace. */
const onWorkspace: ReadonlyMap<string, OnWorkspace> = new Map([
  ...fileSystemBehaviours.map((one) => [one.id, (ws: Workspace) => one.run(ws.fs!)] as const),
  ...onEmptyRoot.map((one) => [one.id, (ws: Workspace) => one.run(ws)] as const),
  ...codeBehaviours.map((one) => [one.id, (ws: Workspace) => one.run(ws.code!)] as const),
])

/**
 * Runs behaviours of the kit in workerd. Those of files, commands and code take turns in one
 * sandbox, emptied in between; all others open sandboxes of their own.
 */
export class BehaviourRunner {
  readonly #makeProvider: MakeProvider
  readonly #destroy: (sandbox: string, transport: Transport) => Promise<void>
  #pooled: Promise<Workspace> | undefined

  /** @param destroy Ends a sandbox behind the back of whoever has it open. */
  constructor(
    makeProvider: MakeProvider,
    destroy: (sandbox: string, transport: Transport) => Promise<void>,
  ) {
    this.#makeProvider = makeProvider
    this.#destroy = destroy
  }

  /** @param transport The same for the whole life of a runner. */
  async run(id: string, transport: Transport): Promise<void> {
    const simple = onWorkspace.get(id)
    if (simple !== undefined) return this.#runPooled(simple, transport)
    const behaviour = workspaceBehaviours.find((one) => one.id === id)
    if (behaviour === undefined) throw new Error(`there is no behaviour ${id}`)
    const subject = this.#subject(transport)
    try {
      await behaviour.run(subject)
    } finally {
      await subject.dispose()
    }
  }

  async #runPooled(run: OnWorkspace, transport: Transport): Promise<void> {
    this.#pooled ??= this.#subject(transport)
      .open()
      .then(({ ws }) => ws)
    try {
      const ws = await this.#pooled
      await ws.fs!.rm('/', { recursive: true })
      await run(ws)
    } catch (error) {
      // Whatever it left behind must not be held against the next one.
      const [left] = await Promise.allSettled([this.#pooled])
      this.#pooled = undefined
      if (left.status === 'fulfilled') await Promise.allSettled([left.value.close()])
      throw error
    }
  }

  #subject(transport: Transport): ProviderSubject {
    const provider = this.#makeProvider()
    const config = { ...conformanceConfig, transport }
    return new ProviderSubject(
      {
        provider,
        config,
        restart: async () => this.#makeProvider(),
        evict: (ref) => this.#destroy((ref.ref as { sandbox: string }).sandbox, transport),
        hostPaths: ['/workspace', 'hx-'],
        secrets: HOST_SECRETS,
      },
      provider.capabilities,
      EXTRAS,
    )
  }
}
