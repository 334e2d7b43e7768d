// What is read of the answers of servers, and how much of it.
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { readBody } from '../../src/http/read-body.ts'
import { explainIssues, parseJson, parseServerFailure } from '../../src/http/server-failure.ts'

describe('the body of an answer', () => {
  it('is read up to so many bytes', async () => {
    expect(await readBody(new Response('größe'), 7)).toBe('größe')
    expect(await readBody(new Response('größe'), 6)).toBeUndefined()
    expect(await readBody(new Response(null), 0)).toBe('')
  })

  it('that is too long is not read on', async () => {
    let isCancelled = false
    const body = new ReadableStream({
      pull: (stream) => stream.enqueue(new Uint8Array(4)),
      cancel: () => void (isCancelled = true),
    })
    expect(await readBody(new Response(body), 9)).toBeUndefined()
    expect(isCancelled).toBe(true)
  })
})

const failure = (error: object) => parseServerFailure(JSON.stringify({ error }))

const texts = (length: number) => {
  const long = '-'.repeat(length)
  return failure({ code: long, message: long, details: long })
}

const explained = (count: number): string => {
  const { error } = z.array(z.number()).safeParse(Array.from({ length: count }, () => 'x'))
  return error === undefined ? '' : explainIssues(error)
}

describe('the failure of a server', () => {
  it.each(['', '{', '[]', '{"error":"text"}', '{"error":{"code":"c"}}'])('%j is none', (text) => {
    expect(parseServerFailure(text)).toBeUndefined()
  })

  it('of what is no JSON says nothing', () => {
    expect([parseJson('{'), parseJson('1')]).toEqual([undefined, 1])
  })

  it('has a code, a message and details, each a line', () => {
    expect(failure({ code: 'c\n', message: 'm' })).toStrictEqual({ code: 'c\\n', message: 'm' })
    expect(failure({ code: 'c', message: 'm', details: { a: [1] } })).toStrictEqual({
      code: 'c',
      message: 'm',
      details: '{"a":[1]}',
    })
    expect(failure({ code: 'c', message: 'm', details: null })?.details).toBe('null')
  })

  it('is cut where it is long', () => {
    expect(texts(100)).toMatchObject({ code: '-'.repeat(100), message: '-'.repeat(100) })
    expect(texts(101)?.code).toBe(`${'-'.repeat(100)}…`)
    expect(texts(2000)?.message).toBe('-'.repeat(2000))
    expect(texts(2001)?.message).toBe(`${'-'.repeat(2000)}…`)
    expect(texts(2001)?.details).toBe(`"${'-'.repeat(1999)}…`)
  })

  it('names five things that do not fit a schema', () => {
    expect(explained(5).match(/✖/g)).toHaveLength(5)
    expect(explained(5)).not.toContain('more')
    expect(explained(6).match(/✖/g)).toHaveLength(5)
    expect(explained(6)).toMatch(/\n… and 1 more$/)
  })
})
