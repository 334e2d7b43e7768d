import { RpcTarget } from 'capnweb'
import type { Connection } from '../connection/connection.ts'
import type { Container } from '../container.ts'
import { ServiceError } from '../service-error.ts'
import { NextBackupTarget, NextFilesTarget, NextUtilsTarget } from './next-targets.ts'
import { NextProcessesTarget } from './next-processes-target.ts'

/** What one connection of the 0.13 line sees. */
export class NextRootTarget extends RpcTarget {
  readonly #utils: NextUtilsTarget
  readonly #files: NextFilesTarget
  readonly #processes: NextProcessesTarget
  readonly #backup: NextBackupTarget

  constructor(container: Container, connection: Connection) {
    super()
    this.#utils = new NextUtilsTarget(container, connection)
    this.#files = new NextFilesTarget(container, connection)
    this.#processes = new NextProcessesTarget(container, connection)
    this.#backup = new NextBackupTarget(container, connection)
  }

  get utils(): NextUtilsTarget {
    return this.#utils
  }

  get files(): NextFilesTarget {
    return this.#files
  }

  get processes(): NextProcessesTarget {
    return this.#processes
  }

  get backup(): NextBackupTarget {
    return this.#backup
  }

  get mounts(): never {
    return reject('mounts')
  }

  get workspace(): never {
    return reject('workspace')
  }

  get ports(): never {
    return reject('ports')
  }

  get watch(): never {
    return reject('watch')
  }

  get tunnels(): never {
    return reject('tunnels')
  }

  get terminals(): never {
    return reject('terminals')
  }

  get extensions(): never {
    return reject('extensions')
  }
}

function reject(domain: string): never {
  const text = `501: ${domain} of the 0.13 line is not supported by the test bed`
  throw new ServiceError('INTERNAL_ERROR', text)
}
