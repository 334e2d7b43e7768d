import { DurableObject } from 'cloudflare:workers'

/** Has a SQLite database; the tests work on it directly. */
export class StoreObject extends DurableObject {}

export default {
  fetch: (): Response => new Response('nothing here', { status: 404 }),
}
