// Calls of one agent on one file that run at the same time: sub-agents that share a workspace, or a
// host that calls tools by itself. Their answers may arrive in any order.
import { expect, it } from 'vitest'
import { ToolBench } from '../tool-bench.ts'

/** The answer of the first write arrives after that of a later one, when there is one. */
function answerFirstWriteLast({ fs }: ToolBench): void {
  const second = Promise.withResolvers<void>()
  let writes = 0
  const late = async <T>(write: Promise<T>): Promise<T> => {
    const isFirst = writes++ === 0
    const stat = await write
    // A single writer in flight would wait for ever: a turn is enough for a second one to come.
    if (isFirst) await Promise.race([second.promise, new Promise((done) => setImmediate(done))])
    else second.resolve()
    return stat
  }
  const [append, write] = [fs.appendFile.bind(fs), fs.writeFile.bind(fs)]
  fs.appendFile = (path, data) => late(append(path, data))
  fs.writeFile = (path, data, options) => late(write(path, data, options))
}

it.each([false, true])('append_file, then an edit (the file was there: %s)', async (isThere) => {
  const bench = new ToolBench({ extended: true })
  if (isThere) await bench.call('write_file', { path: '/a', content: 'start\n' })
  answerFirstWriteLast(bench)
  await Promise.all(
    ['one\n', 'two\n', 'three\n'].map((content) =>
      bench.call('append_file', { path: '/a', content }),
    ),
  )
  const edit = { path: '/a', oldText: 'two', newText: '2' }
  expect(await bench.code('edit_file', edit)).toBe('ok')
  expect(bench.fs.text('/a')).toContain('2')
})

it('edits of one file, then another one', async () => {
  const bench = new ToolBench()
  await bench.call('write_file', { path: '/a', content: 'one two three' })
  answerFirstWriteLast(bench)
  await Promise.all(
    ['one', 'two'].map((word) =>
      bench.call('edit_file', { path: '/a', oldText: word, newText: word.toUpperCase() }),
    ),
  )
  const last = { path: '/a', oldText: 'three', newText: '3' }
  expect(await bench.code('edit_file', last)).toBe('ok')
  expect(bench.fs.text('/a')).toBe('ONE TWO 3')
})
