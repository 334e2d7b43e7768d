import { RpcTarget } from 'capnweb'
import type { Connection } from './connection/connection.ts'
import type { Container } from './container.ts'

/** One domain of the server, for one connection. Callers see its methods, not its fields. */
export class ServiceTarget extends RpcTarget {
  protected readonly container: Container
  protected readonly connection: Connection

  constructor(container: Container, connection: Connection) {
    super()
    this.container = container
    this.connection = connection
  }
}
