import { FileSystemError } from '../../../errors/file-system-error.ts'
import { PolicyError } from '../../../errors/policy-error.ts'
import { logMessages } from '../../../logging/log-messages.ts'
import type { PolicyContext } from '../../define-module.ts'
import type { FileSystemConfig } from '../config.ts'
import type { FileSystem } from '../contract.ts'
import { type AccessRules, compileAccessRules, type PathAccess } from './path-access.ts'
import { normalizePath } from '../path/path.ts'

export type WantedAccess = Exclude<PathAccess, 'none'>

/** A path of a call, and what it reaches; both passed the rules. */
export interface ReachedPath {
  /** As the call spells it, normalised. */
  readonly spelled: string
  /** Without links. */
  readonly real: string
}

/** Path rules on what calls spell and on what they reach through links. */
export class RuledPaths {
  readonly #accessOf: AccessRules
  readonly #context: PolicyContext
  readonly #realPath: FileSystem['realPath']

  /** @param fs The provider's own files, which follow links. */
  constructor(fs: FileSystem, config: FileSystemConfig, context: PolicyContext) {
    this.#accessOf = compileAccessRules(config.pathRules)
    this.#context = context
    this.#realPath = fs.realPath?.bind(fs)
  }

  isVisible(path: string): boolean {
    return this.#accessOf(path) !== 'none'
  }

  /**
   * The real path to use in the place of a path.
   * @param followLast Whether the call follows a link in the last place.
   * @throws {PolicyError} `path-denied`, which is recorded.
   */
  async reach(path: string, wanted: WantedAccess, followLast = true): Promise<ReachedPath> {
    const spelled = this.check(path, wanted)
    const real = (await this.#realPath?.(spelled, { followLast })) ?? spelled
    if (real !== spelled && !this.#allows(real, wanted)) throw this.#refusal(spelled, real, wanted)
    return { spelled, real }
  }

  /** Returns the normalised path, or rejects it. @throws {PolicyError} `path-denied`. */
  check(path: string, wanted: WantedAccess): string {
    const normal = normalizePath(path)
    if (this.#allows(normal, wanted)) return normal
    throw this.#refusal(normal, normal, wanted)
  }

  /** Whether a real path is that of a link, so that nothing lies below it. */
  async isLink(real: string): Promise<boolean> {
    if (this.#realPath === undefined) return false
    try {
      return (await this.#realPath(real)) !== real
    } catch (error) {
      // It leads out, or in a circle.
      if (FileSystemError.isInstance(error)) return true
      throw error
    }
  }

  #allows(path: string, wanted: WantedAccess): boolean {
    const access = this.#accessOf(path)
    return access === 'write' || access === wanted
  }

  #refusal(spelled: string, real: string, wanted: WantedAccess): PolicyError {
    const access = this.#accessOf(real)
    const reason = access === 'none' ? 'may not be used' : 'may be read but not changed'
    const leads = spelled === real ? '' : 'leads to a path that '
    this.#context.audit({
      message: logMessages.pathDenied,
      code: 'path-denied',
      key: real,
      fields: { path: spelled, ...(leads !== '' && { reached: real }), wanted, access },
    })
    const about = `${JSON.stringify(spelled)} ${leads}${reason} in this workspace`
    return new PolicyError('path-denied', about)
  }
}

/** A path below what a call reached, as seen from the path that the call spells. */
export function respell({ spelled, real }: ReachedPath, path: string): string {
  if (spelled === real) return path
  const rest = real === '/' ? path : path.slice(real.length)
  if (rest === '' || rest === '/') return spelled
  return spelled === '/' ? rest : spelled + rest
}
