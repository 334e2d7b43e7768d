// An abort that comes while a run ends, since a call of it waits for a person.
import { defineTool } from '@helix-agents/core'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { agentWith, calls, createHarness, gate } from '../harness.ts'

const sendMail = defineTool({
  name: 'send_mail',
  description: 'Sends a mail.',
  inputSchema: z.object({ to: z.string() }),
  needsApproval: true,
  execute: () => 'sent',
})

/** Tells when the end of a run is on its way, and holds it or its answer back. */
class SlowStore extends InMemoryStateStore {
  readonly ending = gate()
  readonly goOn = gate()
  isBefore = true

  override async endRun(end: Parameters<InMemoryStateStore['endRun']>[0]) {
    if (this.isBefore) await this.#hold()
    const session = await super.endRun(end)
    if (!this.isBefore) await this.#hold()
    return session
  }

  async #hold(): Promise<void> {
    this.ending.open()
    await this.goOn.opened
  }
}

test.each([
  ['before the end is stored', true],
  ['after it', false],
])('an abort %s ends the session and its request', async (_, isBefore) => {
  const store = new SlowStore()
  store.isBefore = isBefore
  const harness = createHarness([calls(['send_mail', { to: 'ada' }])], { store })
  const handle = await harness.executor.execute(agentWith(sendMail), 'Go', { sessionId: 's' })
  await store.ending.opened
  await handle.abort()
  store.goOn.open()
  expect(await handle.result()).toMatchObject({ status: 'aborted' })
  expect(await store.loadSession('s')).toMatchObject({ status: 'aborted' })
  expect((await harness.executor.listRequests({ state: 'open' })).items).toEqual([])
})
