import { packagedBinaries, reachableBinaries } from './binaries.ts'
import { createDatabaseOn, type TestDatabase } from './test-database.ts'
import { makeServerDirectory, reapDirectories, removeDirectory } from './directory.ts'
import { provideData } from './data-template.ts'
import { type ServerPlace, ServerProcess, type StopMode } from './server-process.ts'
import { serverUser } from './server-user.ts'

/** Options of {@link startTestPostgres}. */
export interface TestPostgresOptions {
  /**
   * Whether what is committed survives a loss of power: `fsync`, `full_page_writes` and `synchronous_commit`.
   * What is committed survives a crash of the server alone in both cases. Default: `false`, which is faster.
   */
  readonly durable?: boolean
  /** More settings of the server, as in `postgresql.conf`. Default: none. */
  readonly settings?: Readonly<Record<string, string>>
  /**
   * Folder of `initdb` and `postgres`, such as `/usr/lib/postgresql/15/bin`; version 15 or newer.
   * Default: PostgreSQL 18 from npm.
   */
  readonly binaries?: string
}

/** Small, so that several servers fit beside each other. */
const SETTINGS = {
  listen_addresses: '',
  max_connections: '200',
  shared_buffers: '32MB',
  // A checkpoint comes when it is asked for, not in the middle of a test.
  checkpoint_timeout: '1d',
  // Errors of statements reach their callers; the log holds what happens to the server.
  log_min_messages: 'log',
  log_checkpoints: 'off',
}
const NOT_DURABLE = { fsync: 'off', full_page_writes: 'off' }

/**
 * Starts a PostgreSQL of its own in a throw-away folder, reachable over a unix socket only. It ends with
 * this process, however that ends, and does not keep it running. A root process runs it as `nobody`.
 *
 * @throws {PostgresTestbedError} binaries-missing, directory-unusable, initialization-failed,
 * start-failed, user-missing
 */
export async function startTestPostgres(options: TestPostgresOptions = {}): Promise<TestPostgres> {
  const user = serverUser()
  reapDirectories(user?.uid ?? process.getuid?.())
  const installed = options.binaries ?? packagedBinaries()
  const directory = makeServerDirectory(user)
  try {
    const binaries = user === undefined ? installed : reachableBinaries(installed, directory)
    const place = { binaries, directory, user }
    await provideData(place, installed)
    const settings = {
      ...SETTINGS,
      ...(options.durable !== true && NOT_DURABLE),
      ...options.settings,
    }
    const server = new TestPostgres(place, settings)
    await server.start()
    return server
  } catch (error) {
    removeDirectory(directory)
    throw error
  }
}

/** A PostgreSQL that {@link startTestPostgres} started. */
export class TestPostgres implements AsyncDisposable {
  readonly #place: ServerPlace
  readonly #settings: Readonly<Record<string, string>>
  #process: ServerProcess | undefined

  /** @internal */
  constructor(place: ServerPlace, settings: Readonly<Record<string, string>>) {
    this.#place = place
    this.#settings = settings
  }

  /** The folder of the data and of the socket. */
  get directory(): string {
    return this.#place.directory
  }

  /**
   * The connection string of a database.
   *
   * @param database its name. Default: `postgres`.
   */
  url(database = 'postgres'): string {
    return `postgresql://postgres@${encodeURIComponent(this.directory)}/${database}`
  }

  /** Makes an empty database. */
  createDatabase(): Promise<TestDatabase> {
    return createDatabaseOn(this.url())
  }

  /** Starts the server on the data that it has; nothing happens while it runs. */
  async start(): Promise<void> {
    if (this.#process?.isRunning === true) return
    this.#process = await ServerProcess.start(this.#place, this.#settings)
  }

  /**
   * Stops the server and cuts all connections; its data stay for {@link start}.
   *
   * @param mode `immediate` is a crash. Default: `fast`.
   */
  async stop(mode: StopMode = 'fast'): Promise<void> {
    await this.#process?.stop(mode)
  }

  /**
   * Stops the server and starts it again on the same data and the same address.
   *
   * @param mode `immediate` is a crash. Default: `fast`.
   */
  async restart(mode: StopMode = 'fast'): Promise<void> {
    await this.stop(mode)
    await this.start()
  }

  /** Stops the server and removes its data. */
  async remove(): Promise<void> {
    await this.stop('immediate')
    removeDirectory(this.directory)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove()
  }
}
