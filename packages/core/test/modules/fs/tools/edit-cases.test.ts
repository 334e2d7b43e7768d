import { describe, expect, it } from 'vitest'
import { renderToolError, toToolError } from '../../../../src/errors/to-tool-error.ts'
import { type EditCase, editCases } from '../edit/edit-cases.ts'
import { ToolBench } from '../tool-bench.ts'

async function run(edit: EditCase, tool: 'edit_file' | 'multi_edit') {
  const bench = new ToolBench({ extended: true })
  await bench.fs.writeFile('/dir/file.txt', edit.file)
  const { oldText, newText, replaceAll = false } = edit
  const one = { oldText, newText, replaceAll }
  const before = { oldText: edit.file, newText: `${edit.file}!`, replaceAll: false }
  const edits = [
    ...(edit.file === ''
      ? []
      : [before, { ...before, oldText: before.newText, newText: before.oldText }]),
    one,
  ]
  const input = tool === 'edit_file' ? one : { edits }
  const shown = await bench
    .show(tool, { path: 'dir/file.txt', ...input })
    .catch((error: unknown) => renderToolError(toToolError(error)))
  return { shown, file: bench.fs.text('/dir/file.txt') }
}

describe.each(['edit_file', 'multi_edit'] as const)('%s, as models write it', (tool) => {
  it.each(editCases.map((edit) => [edit.what, edit] as const))('%s', async (_what, edit) => {
    const { shown, file } = await run(edit, tool)
    expect(file).toBe(edit.gives ?? edit.file)
    const start = edit.refused === undefined ? 'edited /dir/file.txt' : `Error [${edit.refused}]`
    expect(shown.startsWith(start)).toBe(true)
    expect((edit.says ?? []).filter((part) => !shown.includes(part))).toEqual([])
  })
})

it('tells each outcome word for word', async () => {
  const told: string[] = []
  for (const edit of editCases) {
    told.push(`## ${edit.what}\n${(await run(edit, 'edit_file')).shown}\n`)
  }
  await expect(told.join('\n')).toMatchFileSnapshot('edit-outcomes.txt')
})

describe('a refusal of an edit', () => {
  const refused = editCases.filter((edit) => edit.refused !== undefined)
  it.each(refused.map((edit) => [edit.what, edit] as const))(
    'names the file, which edit it is and what to do: %s',
    async (_what, edit) => {
      const { shown } = await run(edit, 'multi_edit')
      expect(shown).toContain('dir/file.txt')
      expect(shown).toMatch(edit.file === '' ? /oldText/ : /edit 3|edits\.2/)
      expect(shown).toMatch(/read the file again|First difference|ends before|Add lines|edits\.\d/)
    },
  )
})
