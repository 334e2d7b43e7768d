import type { PolicyContext } from '../define-module.ts'
import type { FileSystemConfig } from './config.ts'
import type { FileSystem } from './contract.ts'
import { forwardFileSystem } from './forward.ts'
import { withPathRules } from './path-rules.ts'
import { withReadOnly } from './read-only.ts'
import { withSizeLimit } from './size-limit.ts'

/**
 * The file system behind its policy. Built once a workspace; a part that the policy does not use
 * costs nothing in a call.
 */
export function withFileSystemPolicy(
  fs: FileSystem,
  config: FileSystemConfig,
  context: PolicyContext,
): FileSystem {
  const limited = withSizeLimit(forwardFileSystem(fs), config)
  const ruled = withPathRules(limited, config, context)
  return config.readOnly ? withReadOnly(ruled) : ruled
}
