// Sandboxes in memory, from the tests of their package: nothing of a container runs here.
import type { WorkspaceProvider } from '@helix-agents/core/provider'

/** What the tests see of all sandboxes. */
export interface SandboxWorld {
  /** Running containers by the id of their sandbox. */
  readonly containers: ReadonlyMap<string, object>
  readonly backups: ReadonlyMap<string, object>
  readonly createDriver: unknown
  /** Called before each call that reaches a container. */
  onCall: (call: { readonly sandboxId: string; readonly name: string }) => Promise<void> | void
}

/** As an agent declares it, parsed. */
type SandboxProvider = WorkspaceProvider & Required<Pick<WorkspaceProvider, 'parseConfig'>>

interface Modules {
  readonly SandboxWorld: new () => SandboxWorld
  readonly CloudflareSandboxWorkspaceProvider: new (options: {
    readonly driver: unknown
  }) => SandboxProvider
}

/** A module of that package; this one does not depend on it. */
async function load(path: string): Promise<Modules> {
  const { url } = import.meta as unknown as { readonly url: string }
  const { href } = new URL(`../../../workspace-cloudflare-sandbox/${path}`, url)
  return (await import(/* @vite-ignore */ href)) as Modules
}

const { SandboxWorld } = await load('test/double/memory-world.ts')
const { CloudflareSandboxWorkspaceProvider } = await load('src/index.ts')

export const createSandboxWorld = (): SandboxWorld => new SandboxWorld()

/** The provider whose sandboxes are in a world. */
export const sandboxesOf = ({ createDriver }: SandboxWorld): SandboxProvider =>
  new CloudflareSandboxWorkspaceProvider({ driver: createDriver })
