import type { PolicyContext } from '../../define-module.ts'
import type { FileSystemConfig } from '../config.ts'
import type { FileSystem } from '../contract.ts'
import { bindMethods } from './bind-methods.ts'
import { withPathRules } from './path-rules.ts'
import { RuledPaths } from './ruled-paths.ts'
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
  const hasRules = config.pathRules.length > 0
  const files = hasRules && fs.withoutLinks !== undefined ? fs.withoutLinks() : fs
  const limited = withSizeLimit(bindMethods(files), config)
  const ruled = hasRules ? withPathRules(limited, new RuledPaths(fs, config, context)) : limited
  return config.readOnly ? withReadOnly(ruled) : ruled
}
