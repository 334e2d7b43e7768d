import { RpcTarget } from 'capnweb'
import { ServiceError } from './service-error.ts'

/** `git`: not served. */
export class GitTarget extends RpcTarget {
  checkout(): never {
    throw new ServiceError('GIT_OPERATION_FAILED', 'git.checkout is not supported by the test bed')
  }
}

/** `tunnels`: not served. */
export class TunnelsTarget extends RpcTarget {
  runQuickTunnel(): never {
    return reject('runQuickTunnel')
  }

  runNamedTunnel(): never {
    return reject('runNamedTunnel')
  }

  destroyTunnel(): never {
    return reject('destroyTunnel')
  }

  listTunnels(): readonly never[] {
    return []
  }

  ensureTunnelRun(): never {
    return reject('ensureTunnelRun')
  }

  stopTunnelRun(): { readonly stopped: false } {
    return { stopped: false }
  }
}

function reject(method: string): never {
  throw new ServiceError('INTERNAL_ERROR', `tunnels.${method} is not supported by the test bed`)
}
