import { closeSync, constants, openSync, statSync } from 'node:fs'
import type { ChildGroups } from '../child-groups.ts'
import { imageOf, interpretersAhead, WORKSPACE } from '../environment.ts'
import { errnoOf, ServiceError } from '../service-error.ts'
import { spawnProblem } from '../spawn-problem.ts'
import { Executor, type Language } from './executor.ts'

const LANGUAGES: readonly Language[] = ['python', 'javascript', 'typescript']

/**
 * Executors that were started ahead. Each is in the directory that `/workspace` was when it was
 * started, whatever is there by now; one that is taken is replaced, if there is a directory to start
 * the next one in. Here the processes come later, in the directories that were opened ahead: no
 * caller sees the difference, and a container without code costs nothing.
 */
export class ExecutorPool {
  readonly #groups: ChildGroups
  readonly #ahead = new Map<Language, number[]>()

  constructor(groups: ChildGroups) {
    this.#groups = groups
    for (const language of LANGUAGES) {
      const opened = Array.from({ length: interpretersAhead() }, openWorkspace)
      this.#ahead.set(
        language,
        opened.filter((directory) => directory !== undefined),
      )
    }
  }

  /** @throws {ServiceError} `PYTHON_NOT_AVAILABLE`, `INTERNAL_ERROR`. */
  async take(language: Language): Promise<Executor> {
    if (language === 'python' && imageOf() === 'default') {
      throw new ServiceError('PYTHON_NOT_AVAILABLE', 'the image has no Python')
    }
    const ahead = this.#ahead.get(language)
    const directory = ahead?.shift()
    if (directory === undefined) return this.#start(language, checkWorkspace(language))
    try {
      return await this.#start(language, `/proc/${process.pid}/fd/${directory}`)
    } finally {
      closeSync(directory)
      // What takes its place starts in what is there now.
      const next = openWorkspace()
      if (next !== undefined) ahead?.push(next)
    }
  }

  async #start(language: Language, cwd: string): Promise<Executor> {
    const executor = await Executor.start(language, cwd)
    this.#groups.add(executor.pid)
    return executor
  }
}

function openWorkspace(): number | undefined {
  try {
    return openSync(WORKSPACE, constants.O_RDONLY | constants.O_DIRECTORY)
  } catch {
    // Then there is one less.
    return undefined
  }
}

function checkWorkspace(language: Language): string {
  const program = language === 'python' ? 'python3' : 'node'
  try {
    if (statSync(WORKSPACE).isDirectory()) return WORKSPACE
  } catch (error) {
    throw new ServiceError('INTERNAL_ERROR', spawnProblem(errnoOf(error) ?? 'ENOENT', program))
  }
  throw new ServiceError('INTERNAL_ERROR', spawnProblem('ENOTDIR', program))
}
