// Code in the container, through the real SDK.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { availability, Bench, codeOf, skipNote } from './testbed/bench.ts'

describe.skipIf(!availability.available)(`code in workerd${skipNote}`, () => {
  let bench: Bench
  beforeAll(async () => void (bench = await Bench.start()), 180_000)
  afterAll(() => bench?.testbed.stop(), 180_000)

  // The code waits for what only somebody writes who has heard it.
  test.each([
    [
      'python',
      'print("begun")\nimport os, time\nwhile not os.path.exists("heard"): time.sleep(0.01)\n1 + 1',
    ],
    [
      'javascript',
      'console.log("begun"); const fs = require("node:fs"); while (!fs.existsSync("heard")) {}; 1 + 1',
    ],
  ])(
    '%s is heard while it runs, alone and in a context',
    async (language, source) => {
      const ws = await bench.open(`live-${language}`)
      for (const inContext of [false, true]) {
        const heard = await ws.call('code.runHeard', language, source, inContext)
        expect(heard).toEqual({ exitCode: 0, outputs: ['begun\n', '2'], seen: ['begun\n', '2'] })
        await ws.call('fs.rm', '/heard')
      }
    },
    120_000,
  )
})

describe.skipIf(!availability.available)(`an image without Python${skipNote}`, () => {
  test('says what to install, at a run and at a context; the rest runs', async () => {
    await using bench = await Bench.start('local', undefined, { image: 'default' })
    const ws = await bench.open('lean')
    for (const method of ['code.runCode', 'code.createContext']) {
      await expect(ws.call(method, 'python', '1')).rejects.toMatchObject({
        code: 'capability-missing',
        told: {
          message: 'the image of the sandbox has no python3',
          hint: expect.stringContaining('Python in the Dockerfile'),
        },
      })
    }
    expect(await codeOf(ws.call('code.runCode', 'typescript', 'const a: number = 1'))).toBe(
      'no error',
    )
  }, 120_000)
})
