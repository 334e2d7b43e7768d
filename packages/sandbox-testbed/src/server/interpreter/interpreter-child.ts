import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { Readable, Writable } from 'node:stream'
import { type ChildGroups, killGroup } from '../child-groups.ts'
import { type Variables, withVariables } from '../environment.ts'
import { ServiceError } from '../service-error.ts'
import { JAVASCRIPT_DRIVER } from './javascript-driver.ts'
import { PYTHON_DRIVER } from './python-driver.ts'

/** The languages that contexts speak. */
export type Language = 'javascript' | 'python' | 'typescript'

/** One line that an interpreter says. */
export type InterpreterEvent =
  | { readonly type: 'stderr' | 'stdout'; readonly text: string }
  | ({ readonly type: 'result' } & Readonly<Record<string, unknown>>)
  | {
      readonly type: 'error'
      readonly name: string
      readonly message: string
      readonly traceback: readonly string[]
    }
  | { readonly type: 'end'; readonly executionCount: number }
  | { readonly type: 'ready' }

export interface ChildSettings {
  readonly language: Language
  readonly cwd: string
  readonly env?: Variables | undefined
}

/** A Python or Node that lives as long as its context. */
export class InterpreterChild {
  readonly #child: ChildProcess
  readonly #requests: Writable
  readonly #lines: AsyncIterator<string>

  private constructor(child: ChildProcess, groups: ChildGroups) {
    this.#child = child
    groups.add(child.pid)
    child.once('exit', () => groups.forget(child.pid))
    const { stdio } = child
    if (!(stdio[3] instanceof Writable) || !(stdio[4] instanceof Readable)) {
      throw new ServiceError('INTERNAL_ERROR', 'the interpreter has no pipes')
    }
    this.#requests = stdio[3]
    // An interpreter that is gone is noticed by the end of its lines.
    this.#requests.on('error', () => this.#requests.destroy())
    stdio[4].on('error', () => undefined)
    this.#lines = createInterface({ input: stdio[4] })[Symbol.asyncIterator]()
  }

  /** @throws {ServiceError} `PYTHON_NOT_AVAILABLE`, `JAVASCRIPT_NOT_AVAILABLE`. */
  static async start(settings: ChildSettings, groups: ChildGroups): Promise<InterpreterChild> {
    const [file, args] = commandOf(settings.language)
    const spawned = spawn(file, args, {
      cwd: '/',
      env: withVariables({ ...settings.env, HELIX_CONTEXT_CWD: settings.cwd, MPLBACKEND: 'Agg' }),
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    })
    // A program that is missing is noticed by the lines that never come.
    spawned.on('error', () => undefined)
    const child = new InterpreterChild(spawned, groups)
    const first = await child.next()
    if (first?.type === 'ready') return child
    child.kill()
    const isPython = settings.language === 'python'
    throw new ServiceError(
      isPython ? 'PYTHON_NOT_AVAILABLE' : 'JAVASCRIPT_NOT_AVAILABLE',
      `${settings.language} cannot be started in this container`,
    )
  }

  /** Hands a run over; its events follow. */
  request(code: string, language: Language): void {
    this.#requests.write(`${JSON.stringify({ code, language })}\n`)
  }

  /** The next event; undefined when the interpreter is gone. */
  async next(): Promise<InterpreterEvent | undefined> {
    const line = await this.#lines.next()
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own driver wrote it
    return line.done === true ? undefined : (JSON.parse(line.value) as InterpreterEvent)
  }

  kill(): void {
    if (this.#child.pid !== undefined) killGroup(this.#child.pid)
  }
}

function commandOf(language: Language): readonly [string, readonly string[]] {
  if (language === 'python') return ['python3', ['-u', '-c', PYTHON_DRIVER]]
  const flags = ['--no-warnings', '--input-type=module', '-e', JAVASCRIPT_DRIVER]
  return [process.execPath, flags]
}
