import type {
  DirectoryBackup,
  getSandbox,
  MountBucketOptions,
  Sandbox,
  SandboxOptions,
} from '@cloudflare/sandbox'

/** What the driver calls of a sandbox. `getSandbox` returns it. */
export interface SandboxStub {
  exec(
    command: string,
    options: { readonly cwd: string; readonly timeout?: number },
  ): Promise<{ readonly stdout: string; readonly stderr: string; readonly exitCode: number }>
  writeFile(
    path: string,
    content: string,
    options: { readonly encoding: 'base64' },
  ): Promise<unknown>
  readFile(
    path: string,
    options: { readonly encoding: 'none' },
  ): Promise<{ readonly content: ReadableStream<Uint8Array> }>
  readFile(
    path: string,
    options: { readonly encoding: 'base64' },
  ): Promise<{ readonly content: string }>
  getState(): Promise<{ readonly status: string; readonly lastChange: number }>
  getContainerPlacementId(): Promise<string | null | undefined>
  destroy(): Promise<void>
  createBackup(options: {
    readonly dir: string
    readonly ttl: number
    readonly name?: string
    readonly localBucket?: boolean
  }): Promise<DirectoryBackup>
  restoreBackup(backup: DirectoryBackup): Promise<{ readonly success: boolean }>
  mountBucket(bucket: string, path: string, options: MountBucketOptions): Promise<void>
}

/** The Durable Object binding of the sandboxes. */
export type SandboxNamespace = DurableObjectNamespace<Sandbox>
export type GetSandbox = typeof getSandbox
export type { MountBucketOptions, SandboxOptions }
