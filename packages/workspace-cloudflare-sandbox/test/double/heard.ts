import type {
  CloudflareSandboxConfigInput,
  CloudflareSandboxWorkspaceProviderOptions,
  SandboxDirectory,
} from '@helix-agents/workspace-cloudflare-sandbox'
import type { CreateSandboxDriver } from '../../src/driver/port.ts'
import { Bench } from './open-on-double.ts'

/** Parts of a driver whose calls are heard too, by their names in front. */
const PARTS = new Set(['snapshots', 'code', 'processes'])

/**
 * A bench over sandboxes in memory that writes down what its drivers, its directory and its caller
 * are asked for: each call once it is under way, a turn later than it is made. One that is made
 * while another is under way is called so.
 */
export class Heard {
  readonly calls: (readonly unknown[])[] = []
  readonly bench: Bench
  #underWay = 0

  constructor(
    config: Partial<CloudflareSandboxConfigInput> = {},
    options: Partial<CloudflareSandboxWorkspaceProviderOptions> = {},
  ) {
    const driver: CreateSandboxDriver = (settings) => {
      this.calls.push(['driver', settings])
      return this.#tap(this.bench.world.createDriver(settings))
    }
    this.bench = new Bench(config, { driver, directory: this.#directory(), ...options })
  }

  /** Names of what was heard since the last time. */
  names(): readonly unknown[] {
    return this.calls.splice(0).map(([name]) => name)
  }

  /** Everything that was heard under a name, without the name. */
  of(name: string): readonly unknown[] {
    return this.calls.flatMap(([heard, ...given]) => (heard === name ? given : []))
  }

  /** Hears of a call that nobody but the test answers. */
  readonly hear =
    (name: string) =>
    (...given: readonly unknown[]): Promise<void> =>
      this.#hear([name, ...given], async () => this.bench.world.onCall({ sandboxId: '', name }))

  async #hear<T>([name, ...given]: readonly unknown[], answer: () => Promise<T>): Promise<T> {
    const heard = this.#underWay === 0 ? name : `meanwhile ${String(name)}`
    this.#underWay += 1
    try {
      await new Promise((resolve) => setImmediate(resolve))
      this.calls.push([heard, ...given])
      return await answer()
    } finally {
      this.#underWay -= 1
    }
  }

  #directory(): SandboxDirectory {
    return {
      recordOpening: this.hear('recordOpening'),
      recordDestroyed: this.hear('recordDestroyed'),
      recordDestroyFailed: this.hear('recordDestroyFailed'),
    }
  }

  #tap<T extends object>(target: T, prefix = ''): T {
    return new Proxy(target, {
      get: (_, key) => {
        const value: unknown = Reflect.get(target, key)
        const name = prefix + String(key)
        if (PARTS.has(name)) return isObject(value) ? this.#tap(value, `${name}.`) : value
        if (typeof value !== 'function') return value
        return (...given: unknown[]) =>
          this.#hear([name, ...given], () => Reflect.apply(value, target, given))
      },
    })
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** What fails in a world, by the names of calls. */
export function failing(errors: Readonly<Record<string, Error>>) {
  return ({ name }: { readonly name: string }): void => {
    const error = errors[name]
    if (error !== undefined) throw error
  }
}
