import { afterAll, beforeAll, describe } from 'vitest'
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
 * @param missing - What else is needed and not there.
 */
export function describeServer(
  name: string,
  define: (fixture: Fixture) => void,
  missing?: string,
): void {
  const problem = unavailable ?? missing
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
      fixture.server = await startPrivateServer()
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
