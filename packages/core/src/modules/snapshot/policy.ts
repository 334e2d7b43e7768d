import { PolicyError } from '../../errors/policy-error.ts'
import { logMessages } from '../../logging/log-messages.ts'
import type { PolicyContext } from '../define-module.ts'
import type { SnapshotConfig } from './config.ts'
import type { SnapshotOptions, Snapshotter } from './contract.ts'

/** The declaration alone says whether snapshots of other sessions are accepted. */
export function withSnapshotPolicy(
  snapshotter: Snapshotter,
  config: SnapshotConfig,
  context: PolicyContext,
): Snapshotter {
  const branch = snapshotter.branch?.bind(snapshotter)
  const allow = (options?: SnapshotOptions): SnapshotOptions => ({
    ...options,
    allowCrossSession: config.allowCrossSession,
  })
  const audited = async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      auditCrossSession(error, context)
      throw error
    }
  }
  return {
    snapshot: async (options) => snapshotter.snapshot(allow(options)),
    restore: (ref, options) => audited(() => snapshotter.restore(ref, allow(options))),
    ...(branch && { branch: (ref, options) => audited(() => branch(ref, allow(options))) }),
  }
}

/** Only the provider knows whose a snapshot is. */
function auditCrossSession(error: unknown, context: PolicyContext): void {
  if (!PolicyError.isInstance(error) || error.code !== 'cross-session') return
  context.audit({
    message: logMessages.crossSessionSnapshot,
    code: error.code,
    key: 'cross-session',
    fields: {},
  })
}
