import { DurableObject } from 'cloudflare:workers'
import { systemClock } from '@helix-agents/core'
import { type DurableObjectStores, openDurableObjectStores } from '@helix-agents/store-cloudflare'

/** The time of the stores, while a test holds it. */
export const held: { now?: number } = {}

const clock = { ...systemClock, now: () => held.now ?? Date.now() }

/** Opens its stores as a real object does; the tests work on them directly. */
export class StoreObject extends DurableObject {
  stores: DurableObjectStores | undefined

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    void ctx.blockConcurrencyWhile(async () => {
      this.stores = await openDurableObjectStores(ctx.storage, {
        clock,
        streams: { maxBufferedChunks: 10 },
      })
    })
  }

  ping(): void {}
}

declare global {
  namespace Cloudflare {
    interface GlobalProps {
      mainModule: typeof import('./worker.ts')
    }
    interface Env {
      STORE: DurableObjectNamespace<StoreObject>
      BUCKET: R2Bucket
    }
  }
}

export default {
  fetch: (): Response => new Response('nothing here', { status: 404 }),
}
