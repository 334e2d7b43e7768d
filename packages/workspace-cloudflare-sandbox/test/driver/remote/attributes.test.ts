// What is asked of a container about links and permissions, and what is made of the answer.
import { describe, expect, it } from 'vitest'
import { ScriptFiles } from '../../../src/driver/remote/script-files.ts'
import { SCRIPTS } from '../../../src/driver/script/scripts.generated.ts'
import { linkTo, said } from './link-to.ts'

const ONCE = { deadlineMs: 60_000, isRepeatable: false }
const REPEATABLE = { deadlineMs: 60_000, isRepeatable: true }
const { signal } = new AbortController()
const named = (length: number): string => `/${'x'.repeat(length - 1)}`
/** The first three calls are as long as one may be. */
const GROUPS = [[14_999], [5000, 5000, 4000, 997], [5000, 5000, 4000, 996], [1]].map((lengths) =>
  lengths.map(named),
)

/** A container that gives this answer. */
function attributesOf(line: string, payload = '', wait?: () => Promise<void>) {
  const parts = linkTo(async (_, nonce) => {
    await wait?.()
    return said(nonce, line, payload)
  })
  const asked = (): readonly (string | undefined)[] =>
    parts.ran.map(({ script }) => script.split('\n').findLast((one) => /^paths?=/.test(one)))
  const { attributes } = new ScriptFiles(parts.link)
  return { ...parts, asked, attributes }
}

describe('many paths', () => {
  const ofFile = '81a4 3 1.5 7 2.5'
  it('are described in their order, and what has no line is missing', async () => {
    const { asked, attributes, ran } = attributesOf('stats', `${ofFile}\n-\n43ff 0 1.5 8 2.5`)
    const paths = ['/workspace/a', '/workspace/b', '/workspace/c', '/workspace/d']
    expect(await attributes.statMany(paths, signal)).toEqual([
      {
        path: '/workspace/a',
        type: 'file',
        sizeBytes: 3,
        modifiedAtMs: 1500,
        version: '7-3-1.5-2.5',
        mode: 0o644,
      },
      undefined,
      expect.objectContaining({ path: '/workspace/c', type: 'directory', mode: 0o777 }),
      undefined,
    ])
    expect(asked()).toEqual([`paths=(${paths.join(' ')})`])
    expect(ran[0]?.call).toEqual({ ...REPEATABLE, signal })
    expect(ran[0]?.script).toContain('\nrefuse=1\n')
    expect(ran[0]?.script.endsWith(SCRIPTS['stat-many'])).toBe(true)
  })
  it('are asked for in calls of what fits', async () => {
    const { asked, attributes, ran } = attributesOf('stats', ofFile)
    const found = await attributes.statMany(GROUPS.flat())
    expect(found.filter((one) => one !== undefined)).toHaveLength(GROUPS.length)
    expect(asked()).toEqual(GROUPS.map((paths) => `paths=(${paths.join(' ')})`))
    expect(ran.map(({ call }) => call)).toEqual(GROUPS.map(() => REPEATABLE))
    expect(await attributes.statMany([])).toEqual([])
    expect(ran).toHaveLength(4)
  })
})

describe('permissions', () => {
  it('are set in octal digits, and one call after the other', async () => {
    const held: (() => void)[] = []
    const wait = (): Promise<void> => new Promise((resolve) => void held.push(resolve))
    const { asked, attributes, ran } = attributesOf('ok', '', wait)
    const modes = GROUPS.flat().map((path) => ({ path, mode: 0o640 }))
    let isOver = false
    const done = attributes.writeModes(modes, signal).finally(() => (isOver = true))
    for (const calls of [1, 2, 3, 4]) {
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
      expect([ran.length, held.length, isOver]).toEqual([calls, 1, false])
      held.shift()?.()
    }
    await done
    expect(asked()).toEqual(
      GROUPS.map((paths) => `paths=(${paths.join(' ')}) modes=(${paths.map(() => 640).join(' ')})`),
    )
    expect(ran[0]?.call).toEqual({ ...REPEATABLE, signal })
    expect(ran[0]?.script.endsWith(SCRIPTS['write-modes'])).toBe(true)
  })
  it('can be set without a signal', async () => {
    const { attributes, ran } = attributesOf('ok')
    await attributes.writeModes([{ path: '/workspace/a', mode: 0 }])
    expect(ran[0]?.call).toEqual(REPEATABLE)
  })
})

describe('a link', () => {
  it('is read as it is, also twice', async () => {
    const target = Buffer.from('../x y').toString('base64')
    const { asked, attributes, ran } = attributesOf('ok', `${target}\n`)
    expect(await attributes.readLink('/workspace/l')).toBe('../x y')
    expect([asked(), ran[0]?.call]).toEqual([['path=/workspace/l'], REPEATABLE])
    expect(ran[0]?.script.endsWith(SCRIPTS['read-link'])).toBe(true)
  })
  it('is made once, and what is in its place is an error', async () => {
    const { asked, attributes, ran } = attributesOf('ok')
    await attributes.makeLink('/workspace/l', 'a b')
    expect([asked(), ran[0]?.call]).toEqual([["path=/workspace/l target='a b'"], ONCE])
    expect(ran[0]?.script.endsWith(SCRIPTS['make-link'])).toBe(true)
    const refused = attributesOf('fail exists').attributes.makeLink('/workspace/l', 'a')
    await expect(refused).rejects.toMatchObject({ code: 'exists' })
  })
})
