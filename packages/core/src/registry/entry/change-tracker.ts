import type { AnyModule } from '../../modules/list.ts'
import { allModules } from '../../modules/list.ts'
import type { Workspace } from '../../workspace/workspace.ts'

/** What is known of the files of a workspace before this process has used it. */
export type ChangedBefore = 'yes' | 'no' | 'unknown'

/**
 * Knows whether files of a workspace may have changed since the last snapshot. Every method of a module
 * that is not named in its `reads` counts as a change, while it runs and once it has ended.
 */
export class ChangeTracker {
  #hasChanged = false
  #running = 0
  /** Background processes may be there, and may write at any time. */
  #mayRunProcesses = false

  /** Something may have changed. */
  mark(): void {
    this.#hasChanged = true
  }

  /** Processes of an earlier run may be there. */
  expectProcesses(): void {
    this.#mayRunProcesses = true
  }

  get hasChanged(): boolean {
    return this.#hasChanged || this.#running > 0
  }

  get mayRunProcesses(): boolean {
    return this.#mayRunProcesses
  }

  /** A snapshot begins: what changes from now on is not certainly in it. */
  begin(): void {
    this.#hasChanged = this.#running > 0
  }

  /** Asks the shell whether background processes still run; one that has ended may have written. */
  async checkProcesses({ shell }: Workspace): Promise<void> {
    if (!this.#mayRunProcesses) return
    const processes = (await shell?.list?.()) ?? []
    if (processes.length > 0) this.#hasChanged = true
    this.#mayRunProcesses = processes.some(({ state }) => state === 'running')
  }

  /** The workspace, with methods that mark what may change. */
  watch(workspace: Workspace): Workspace {
    const modules = new Map<PropertyKey, unknown>()
    for (const module of allModules()) {
      const live = workspace[module.name]
      if (live !== undefined) modules.set(module.name, this.#watchModule(live, module))
    }
    return new Proxy(workspace, {
      get: (target, key) => modules.get(key) ?? methodOf(target, key),
    })
  }

  #watchModule(live: object, module: AnyModule): object {
    const harmless = new Set<PropertyKey>(module.reads ?? [])
    const watched = new Map<PropertyKey, unknown>()
    return new Proxy(live, {
      get: (target, key) => {
        const found = watched.get(key)
        if (found !== undefined) return found
        const value = methodOf(target, key)
        // Such as the attributes of files.
        if (!isMethod(value)) return isView(value) ? this.#watchModule(value, module) : value
        const method = (...given: unknown[]): unknown => {
          const call = (): unknown => value(...given)
          if (!harmless.has(key)) return this.#runChange(key, call)
          const result = call()
          // Another view of the same files.
          return isView(result) ? this.#watchModule(result, module) : result
        }
        watched.set(key, method)
        return method
      },
    })
  }

  #runChange(key: PropertyKey, call: () => unknown): unknown {
    if (key === 'start') this.#mayRunProcesses = true
    this.#running += 1
    this.#hasChanged = true
    const end = (): void => {
      this.#running -= 1
      this.#hasChanged = true
    }
    let result: unknown
    try {
      result = call()
    } catch (error) {
      end()
      throw error
    }
    if (!(result instanceof Promise)) {
      end()
      return result
    }
    return result.finally(end)
  }
}

function isMethod(value: unknown): value is (...given: unknown[]) => unknown {
  return typeof value === 'function'
}

function isView(result: unknown): result is object {
  return typeof result === 'object' && result !== null && !(result instanceof Promise)
}

/** Private fields of a class are those of the object, not of its proxy. */
function methodOf(target: object, key: PropertyKey): unknown {
  const value: unknown = Reflect.get(target, key, target)
  return isMethod(value) ? value.bind(target) : value
}
