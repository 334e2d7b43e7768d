import type { Faults } from '../faults/fault-set.ts'
import type { RunningSandbox } from '../running-sandbox.ts'

/** What a test bed needs of a container engine, its own or a real one. */
export interface TestbedEngine {
  readonly kind: 'local' | 'docker'
  readonly isolation: 'bubblewrap' | 'unshare' | undefined
  readonly faults: Faults
  /** The settings for workerd. */
  readonly docker: {
    readonly socketPath: string
    readonly image: string
    readonly sidecarImage: string
  }
  running(): Promise<readonly RunningSandbox[]>
  /** The running container of a sandbox id. */
  find(sandbox: string): Promise<RunningSandbox | undefined>
  /** Sends a signal to the container of a sandbox id, and waits for its end. */
  end(sandbox: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  stop(): Promise<void>
}
