import { readdirSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { childrenWith, type EngineFixture, marks, startShellEngine } from './support.ts'

const NAME = `workerd-testbed-Sandbox-${'b'.repeat(64)}`
const OPERATIONS = ['create', 'start', 'term', 'kill', 'delete', 'inspect'] as const
type Operation = (typeof OPERATIONS)[number]
type State = 'absent' | 'created' | 'running' | 'exited'

const LINES: Record<Operation, string> = {
  create: `POST /containers/create?name=${NAME}`,
  start: `POST /containers/${NAME}/start`,
  term: `POST /containers/${NAME}/kill?signal=SIGTERM`,
  kill: `POST /containers/${NAME}/kill`,
  delete: `DELETE /containers/${NAME}?force=true`,
  inspect: `GET /containers/${NAME}/json`,
}

/** What the engine answers in a state, and the state that it leads to. */
const MODEL: Record<State, Record<Operation, readonly [status: number, next: State]>> = {
  absent: {
    create: [201, 'created'],
    start: [404, 'absent'],
    term: [404, 'absent'],
    kill: [404, 'absent'],
    delete: [404, 'absent'],
    inspect: [404, 'absent'],
  },
  created: {
    create: [409, 'created'],
    start: [204, 'running'],
    term: [409, 'created'],
    kill: [409, 'created'],
    delete: [204, 'absent'],
    inspect: [200, 'created'],
  },
  running: {
    create: [409, 'running'],
    start: [304, 'running'],
    term: [204, 'exited'],
    kill: [204, 'exited'],
    delete: [204, 'absent'],
    inspect: [200, 'running'],
  },
  exited: {
    create: [409, 'exited'],
    start: [204, 'running'],
    term: [409, 'exited'],
    kill: [409, 'exited'],
    delete: [204, 'absent'],
    inspect: [200, 'exited'],
  },
}

describe('a container of the local engine', () => {
  let fixture: EngineFixture
  beforeAll(async () => {
    fixture = await startShellEngine()
  })
  afterAll(() => fixture.stop())

  const call = (operation: Operation | 'wait' | 'gone') => {
    const [method = '', path = ''] =
      operation === 'wait' || operation === 'gone'
        ? ['POST', `/containers/${NAME}/wait${operation === 'gone' ? '?condition=removed' : ''}`]
        : LINES[operation].split(' ')
    return fixture.call(method, path, operation === 'create' ? {} : undefined)
  }
  const stateNow = async (): Promise<State> => {
    const { status, body } = await call('inspect')
    return status === 404 ? 'absent' : body.State.Status
  }
  /** Nothing runs and nothing lies about but what the state says. */
  const look = async (state: State): Promise<void> => {
    await expect.poll(processes).toHaveLength(state === 'running' ? 1 : 0)
    const folders = () => readdirSync(fixture.disks).filter((name) => !name.endsWith('.sock'))
    await expect.poll(folders).toHaveLength(state === 'absent' ? 0 : 1)
    if (state === 'created') expect(marks(fixture.disks)).toHaveLength(0)
    if (state === 'running') await expect.poll(() => marks(fixture.disks)).toHaveLength(1)
  }
  const processes = (): string[] => childrenWith(fixture.disks)
  const reset = async (): Promise<void> => {
    await call('delete')
    await look('absent')
  }

  it('goes through its states as a real one, one call after the other', async () => {
    const restarts: Operation[] = ['create', 'start', 'kill', 'start', 'term', 'start', 'delete']
    await fc.assert(
      fc.asyncProperty(walks, async (operations) => {
        let state: State = 'absent'
        for (const operation of operations) {
          const [status, next]: readonly [number, State] = MODEL[state][operation]
          const isEnd = state === 'running' && next !== 'running'
          const waiting = isEnd ? call('wait') : undefined
          // The engine takes the calls of two connections in any order.
          if (isEnd) await call('inspect')
          const answer = await call(operation)
          expect({ state, operation, status: answer.status }).toEqual({ state, operation, status })
          const code = (await waiting)?.body.StatusCode
          const possible = operation === 'term' ? [7, 143] : [137]
          expect(isEnd ? possible : [undefined]).toContain(code)
          state = next
          await look(state)
        }
        await reset()
      }),
      { numRuns: 8, examples: [[restarts]] },
    )
  }, 120_000)

  it('has one process and one disk whatever calls meet', async () => {
    await fc.assert(
      fc.asyncProperty(encounters, async (steps) => {
        for (const { before, operations } of steps) {
          await reset()
          for (const operation of WAY[before]) await call(operation)
          if (before === 'exited') await call('wait')
          const answers = await Promise.all(operations.map(call))
          for (const [index, operation] of operations.entries()) {
            // One that some state gives; 409 also tells of a removal that is not over.
            const possible = Object.values(MODEL).map((row) => row[operation][0])
            expect([...possible, 409]).toContain(answers[index]?.status)
          }
          // A signal may still be on its way.
          if ((await stateNow()) === 'running' && /term|kill/.test(operations.join())) {
            await call('kill')
            await call('wait')
          }
          await look(await stateNow())
        }
        await reset()
      }),
      { numRuns: 15 },
    )
  }, 120_000)
})

const WAY: Record<State, readonly Operation[]> = {
  absent: [],
  created: ['create'],
  running: ['create', 'start'],
  exited: ['create', 'start', 'kill'],
}
const operation = fc.constantFrom(...OPERATIONS)
/** Three calls in four lead to another state. */
const walks = fc
  .array(fc.tuple(fc.nat(3), operation), { minLength: 4, maxLength: 12 })
  .map((picks) => {
    let state: State = 'absent'
    return picks.map(([dice, any]) => {
      const leading = OPERATIONS.filter((name) => MODEL[state][name][1] !== state)
      const picked = dice === 0 ? any : (leading[OPERATIONS.indexOf(any) % leading.length] ?? any)
      state = MODEL[state][picked][1]
      return picked
    })
  })
const encounters = fc.array(
  fc.record({
    before: fc.constantFrom<State>('absent', 'created', 'running', 'exited'),
    operations: fc.array(operation, { minLength: 2, maxLength: 5 }),
  }),
  { minLength: 1, maxLength: 3 },
)
