import { type CapabilitiesInput, noopLogger } from '@helix-agents/core'
import {
  codeConfigSchema,
  fileSystemConfigSchema,
  type OpenedWorkspace,
  type OpenOptions,
  shellConfigSchema,
  snapshotConfigSchema,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import {
  type CloudflareSandboxConfigInput,
  CloudflareSandboxWorkspaceProvider,
  type CloudflareSandboxWorkspaceProviderOptions,
} from '@helix-agents/workspace-cloudflare-sandbox'
import { SandboxWorld } from './memory-world.ts'

export const session = { sessionId: 'session-1', agentType: 'tester' }
export const kind = 'cloudflare-sandbox' as const

export const allCapabilities: CapabilitiesInput = { fs: true, shell: true, code: true }

/** A provider over sandboxes in memory. */
export class Bench {
  readonly world = new SandboxWorld()
  readonly clock = new ManualClock(1_800_000_000_000)
  readonly config: CloudflareSandboxConfigInput
  readonly #options: Partial<CloudflareSandboxWorkspaceProviderOptions>
  provider: CloudflareSandboxWorkspaceProvider

  constructor(
    config: Partial<CloudflareSandboxConfigInput> = {},
    options: Partial<CloudflareSandboxWorkspaceProviderOptions> = {},
  ) {
    this.config = { kind, ...config }
    this.#options = options
    this.provider = this.#makeProvider()
    this.world.now = () => this.clock.now()
  }

  /** The next process. */
  restart(): void {
    this.provider = this.#makeProvider()
  }

  open(overrides: Partial<OpenOptions> & { sessionId?: string } = {}): Promise<OpenedWorkspace> {
    const { sessionId = session.sessionId, ...options } = overrides
    return this.provider.open(
      this.config,
      { ...session, sessionId },
      { ...this.options(), ...options },
    )
  }

  resolve(
    ref: WorkspaceRef,
    overrides: Partial<OpenOptions> & { sessionId?: string } = {},
  ): Promise<OpenedWorkspace> {
    const { sessionId = session.sessionId, ...options } = overrides
    const stored = JSON.parse(JSON.stringify(ref)) as WorkspaceRef
    return this.provider.resolve(stored, {
      ...this.options(),
      config: this.config,
      session: { ...session, sessionId },
      ...options,
    })
  }

  options(): OpenOptions {
    return {
      workspace: 'box',
      capabilities: {
        fs: fileSystemConfigSchema.parse({}),
        shell: shellConfigSchema.parse({}),
        code: codeConfigSchema.parse({}),
        ...('backupR2Binding' in this.config && { snapshot: snapshotConfigSchema.parse({}) }),
      },
      signal: new AbortController().signal,
      logger: noopLogger,
      clock: this.clock,
    }
  }

  #makeProvider(): CloudflareSandboxWorkspaceProvider {
    return new CloudflareSandboxWorkspaceProvider({
      driver: this.world.createDriver,
      localBuckets: true,
      ...this.#options,
    })
  }
}

/** The provider's own part of a ref. */
export function payloadOf(ref: WorkspaceRef): Record<string, unknown> {
  return ref.ref as Record<string, unknown>
}

/** The code of the error that a promise rejects with. */
export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no error',
    (error: unknown) => (error as { code?: unknown }).code ?? error,
  )
}
