import type { SqlDatabase, SqlStatements } from '../sql-database.ts'
import { SqlError } from '../sql-error.ts'
import type { StreamSignals } from './stream-signals.ts'

/** What became of a stream. */
export interface StreamChange {
  readonly stream: number
  /** Whether what readers hold may be out of date. */
  readonly isReplaced: boolean
}

/** One change of one stream. */
export interface StreamTask {
  readonly streamId: string
  /** Makes the change, again when its transaction failed. @returns nothing when no stream changed */
  run(sql: SqlStatements): StreamChange | undefined
  /** The change is committed. */
  settle(): void
  fail(error: unknown): void
}

/**
 * Makes the changes of all streams in the order of their calls. Those of one turn share a
 * transaction, and so do those that come while another one is under way.
 */
export class StreamQueue {
  readonly #database: SqlDatabase
  readonly #signals: StreamSignals
  #tasks: StreamTask[] = []
  #runs = false

  constructor(database: SqlDatabase, signals: StreamSignals) {
    this.#database = database
    this.#signals = signals
  }

  /** The task that was added last, while it may still be added to. */
  get last(): StreamTask | undefined {
    return this.#tasks.at(-1)
  }

  add(task: StreamTask): void {
    this.#tasks.push(task)
    if (this.#runs) return
    this.#runs = true
    queueMicrotask(() => void this.#drain())
  }

  async #drain(): Promise<void> {
    while (this.#tasks.length > 0) {
      const tasks = this.#tasks
      this.#tasks = []
      await this.#commit(tasks)
    }
    this.#runs = false
  }

  async #commit(tasks: readonly StreamTask[]): Promise<void> {
    try {
      const changes = await this.#database.write((sql) => runAll(sql, tasks))
      if (changes.some(({ isReplaced }) => isReplaced)) this.#signals.replaced()
      this.#signals.changed(new Set(changes.map(({ stream }) => stream)))
      for (const task of tasks) task.settle()
    } catch (error) {
      await this.#commitApart(tasks, error)
    }
  }

  /** What is wrong with one stream does not disturb the others. */
  async #commitApart(tasks: readonly StreamTask[], error: unknown): Promise<void> {
    const streams = Map.groupBy(tasks, (task) => task.streamId)
    if (streams.size === 1 || !mayBeOfOneStream(error)) {
      for (const task of tasks) task.fail(error)
      return
    }
    for (const own of streams.values()) await this.#commit(own)
  }
}

function runAll(sql: SqlStatements, tasks: readonly StreamTask[]): readonly StreamChange[] {
  const changes = runOfEach(sql, tasks).filter((change) => change !== undefined)
  const replaced = changes.filter(({ isReplaced }) => isReplaced)
  const streamOf = ({ stream }: StreamChange): number => stream
  if (changes.length > 0) sql.server?.notify(changes.map(streamOf), replaced.map(streamOf))
  return changes
}

/** Changes of different streams do not depend on each other. */
function runOfEach(
  sql: SqlStatements,
  tasks: readonly StreamTask[],
): readonly (StreamChange | undefined)[] {
  if (sql.server === undefined) return tasks.map((task) => task.run(sql))
  const streams = [...Map.groupBy(tasks, (task) => task.streamId).values()]
  return sql.server.together(streams.map((own) => () => own.map((task) => task.run(sql)))).flat()
}

function mayBeOfOneStream(error: unknown): boolean {
  return !(error instanceof SqlError) || error.kind === 'corrupt' || error.kind === 'failed'
}
