import { afterAll, beforeAll, describe } from 'vitest'
import type { ContainerImage } from '../../../src/root/image.ts'
import { type Client, connect } from './client.ts'
import { type PrivateServer, startPrivateServer, unavailable } from './private-server.ts'

/** The session id that means: no session. */
export const ALONE = '__DISABLE_SESSION__'

/** A server and a connection to it, for all tests of one group. */
export interface Fixture {
  server: PrivateServer
  client: Client
  /** A session that nobody used before. */
  newSession(): Promise<string>
}

let sessions = 0

/**
 * A group of tests with a server in a private root; skipped, with the reason in its name, where
 * there is none.
 * @param more - What else is needed and not there, and the image of the container.
 */
export function describeServer(
  name: string,
  define: (fixture: Fixture) => void,
  more: { readonly missing?: string | undefined; readonly image?: ContainerImage } = {},
): void {
  const problem = unavailable ?? more.missing
  const reason = problem === undefined ? '' : ` (skipped: ${problem})`
  describe.skipIf(problem !== undefined)(`${name}${reason}`, () => {
    const fixture = {
      newSession: async () => {
        sessions += 1
        const id = `session-${sessions}`
        await fixture.client.root.utils.createSession({ id, cwd: '/workspace' })
        return id
      },
    } as Fixture
    beforeAll(async () => {
      fixture.server = await startPrivateServer(more.image)
      fixture.client = await connect(fixture.server.socketPath)
    })
    afterAll(async () => {
      fixture.client.close()
      await fixture.server.stop()
    })
    define(fixture)
  })
}

/** Whether a call is still pending when another one, made afterwards, has been answered. */
export async function stillPending(
  call: PromiseLike<unknown>,
  later: () => Promise<unknown>,
): Promise<boolean> {
  let settled = false
  const mark = (): void => {
    settled = true
  }
  call.then(mark, mark)
  await later()
  await later()
  return !settled
}
