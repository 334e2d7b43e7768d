// Where an object is made: what the options say goes to the namespace.
import { env } from 'cloudflare:workers'
import { insecureAllowAnyone, routeAgentRequest } from '@helix-agents/runtime-cloudflare'
import { expect, test } from 'vitest'
import { createSession } from '../session.ts'

/** A namespace that records how it is asked; workerd has one place only. */
function createNamespace() {
  const asked: unknown[] = []
  const namespace = {
    jurisdiction: (name: string) => {
      asked.push(['jurisdiction', name])
      return namespace
    },
    idFromName: (name: string) => env.AGENTS.idFromName(name),
    get: (id: DurableObjectId, options: object) => {
      asked.push(['get', options])
      return env.AGENTS.get(id)
    },
  }
  return { asked, AGENTS: namespace }
}

test('an object is made where `locationHint` and `jurisdiction` say', async () => {
  const { asked, AGENTS } = createNamespace()
  const request = new Request(createSession().url('/state'))
  const options = { binding: 'AGENTS', authenticate: insecureAllowAnyone } as const
  await routeAgentRequest(
    request,
    { AGENTS },
    { ...options, locationHint: 'weur', jurisdiction: 'eu' },
  )
  expect(asked).toEqual([
    ['jurisdiction', 'eu'],
    ['get', { locationHint: 'weur' }],
  ])
})

test('without them it is left to the platform', async () => {
  const { asked, AGENTS } = createNamespace()
  const request = new Request(createSession().url('/state'))
  await routeAgentRequest(
    request,
    { AGENTS },
    { binding: 'AGENTS', authenticate: insecureAllowAnyone },
  )
  expect(asked).toEqual([['get', {}]])
})
