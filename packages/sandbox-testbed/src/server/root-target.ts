import { RpcTarget } from 'capnweb'
import { BackupTarget } from './backup/backup-target.ts'
import { CommandsTarget } from './commands/commands-target.ts'
import type { Connection } from './connection/connection.ts'
import type { Container } from './container.ts'
import { FilesTarget } from './files/files-target.ts'
import { InterpreterTarget } from './interpreter/interpreter-target.ts'
import { PortsTarget } from './ports/ports-target.ts'
import { ProcessesTarget } from './processes/processes-target.ts'
import { GitTarget, TunnelsTarget } from './unsupported-targets.ts'
import { UtilsTarget } from './utils-target.ts'
import { WatchTarget } from './watch/watch-target.ts'

/** What one connection sees: a target for each domain. */
export class RootTarget extends RpcTarget {
  readonly #utils: UtilsTarget
  readonly #commands: CommandsTarget
  readonly #files: FilesTarget
  readonly #processes: ProcessesTarget
  readonly #interpreter: InterpreterTarget
  readonly #ports: PortsTarget
  readonly #backup: BackupTarget
  readonly #watch: WatchTarget
  readonly #git = new GitTarget()
  readonly #tunnels = new TunnelsTarget()

  constructor(container: Container, connection: Connection) {
    super()
    this.#utils = new UtilsTarget(container, connection)
    this.#commands = new CommandsTarget(container, connection)
    this.#files = new FilesTarget(container, connection)
    this.#processes = new ProcessesTarget(container, connection)
    this.#interpreter = new InterpreterTarget(container, connection)
    this.#ports = new PortsTarget(container, connection)
    this.#backup = new BackupTarget(container, connection)
    this.#watch = new WatchTarget(container, connection)
  }

  get utils(): UtilsTarget {
    return this.#utils
  }

  get commands(): CommandsTarget {
    return this.#commands
  }

  get files(): FilesTarget {
    return this.#files
  }

  get processes(): ProcessesTarget {
    return this.#processes
  }

  get interpreter(): InterpreterTarget {
    return this.#interpreter
  }

  get ports(): PortsTarget {
    return this.#ports
  }

  get git(): GitTarget {
    return this.#git
  }

  get tunnels(): TunnelsTarget {
    return this.#tunnels
  }

  get backup(): BackupTarget {
    return this.#backup
  }

  get watch(): WatchTarget {
    return this.#watch
  }
}
