import { HelixError, type HelixErrorOptions } from './helix-error.ts'

/**
 * `evicted`: the backend went away, the ref may resolve again. `lost`: it is gone for good.
 * `outcome-unknown`: it went away during an operation that must not run twice.
 */
export type WorkspaceEvictedCode = 'evicted' | 'lost' | 'outcome-unknown'

/** Options of `WorkspaceEvictedError`. */
export interface WorkspaceEvictedOptions extends HelixErrorOptions {
  /**
   * Whether the backend took the interrupted operation: `no` means it certainly did not run.
   * Default `unknown`.
   */
  readonly admitted?: 'no' | 'unknown'
  readonly code?: WorkspaceEvictedCode
}

/** The backend of a workspace is gone. Handled by the registry, not by callers. */
export class WorkspaceEvictedError extends HelixError {
  override readonly name = 'WorkspaceEvictedError'
  readonly transient = true
  readonly code: WorkspaceEvictedCode
  readonly admitted: 'no' | 'unknown'

  constructor(detail: string, options: WorkspaceEvictedOptions = {}) {
    super(detail, options)
    this.code = options.code ?? 'evicted'
    this.admitted = options.admitted ?? 'unknown'
  }

  static override isInstance(value: unknown): value is WorkspaceEvictedError {
    return HelixError.isInstance(value) && value.name === 'WorkspaceEvictedError'
  }
}
