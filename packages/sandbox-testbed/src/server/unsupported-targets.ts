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
    return refuse('runQuickTunnel')
  }

  runNamedTunnel(): never {
    return refuse('runNamedTunnel')
  }

  destroyTunnel(): never {
    return refuse('destroyTunnel')
  }

  listTunnels(): readonly never[] {
    return []
  }

  ensureTunnelRun(): never {
    return refuse('ensureTunnelRun')
  }

  stopTunnelRun(): { readonly stopped: false } {
    return { stopped: false }
  }
}

function refuse(method: string): never {
  throw new ServiceError('INTERNAL_ERROR', `tunnels.${method} is not supported by the test bed`)
}
