import type { FileAttributes, Workspace } from '@helix-agents/core/provider'
import { check, equal, rejectsWithCode } from '../assert.ts'
import { names } from '../file-system/files.ts'
import { filesOf } from '../provider/provider-subject.ts'
import { outputOf, run, type ShellBehaviour } from './shell-subject.ts'

type Attributes = Required<
  Pick<FileAttributes, 'makeLink' | 'readLink' | 'readMode' | 'writeModes'>
>

/** What these clauses are about: a provider may have no attributes, or all of these. */
async function withAttributes(
  ws: Workspace,
  act: (attributes: Attributes) => Promise<void>,
): Promise<void> {
  const { attributes } = filesOf(ws)
  if (attributes === undefined) return
  check(hasAll(attributes), 'makeLink(), readLink(), readMode() and writeModes() together')
  await act(attributes)
}

function hasAll(attributes: FileAttributes): attributes is Attributes {
  const methods = ['makeLink', 'readLink', 'readMode', 'writeModes'] as const
  return methods.every((method) => attributes[method] !== undefined)
}

export const attributeBehaviours: readonly ShellBehaviour[] = [
  {
    id: 'shell/attributes/are-read-and-set',
    needs: ['fs', 'processes'],
    run: (ws) =>
      withAttributes(ws, async (attributes) => {
        await run(ws, 'mkdir d; echo x > d/a; chmod 640 d/a; chmod 750 d; ln -s a d/link')
        equal(await attributes.readMode('/d/a'), 0o640)
        equal(await attributes.readMode('/d'), 0o750)
        equal(await attributes.readLink('/d/link'), 'a')
        await attributes.makeLink('/up', 'd/a')
        await attributes.writeModes([
          { path: '/d/a', mode: 0o755 },
          { path: '/d', mode: 0o700 },
        ])
        equal(await outputOf(ws, 'stat -c %a d/a d; readlink up; cat up'), '755\n700\nd/a\nx')
      }),
  },
  {
    id: 'shell/attributes/follow-no-link',
    needs: ['fs', 'processes'],
    run: (ws) =>
      withAttributes(ws, async (attributes) => {
        await run(ws, 'mkdir d; echo x > d/a; chmod 640 d/a; ln -s d/a file; ln -s d over')
        for (const path of ['/file', '/over/a']) {
          await rejectsWithCode('path-escape', () => attributes.writeModes([{ path, mode: 0o777 }]))
        }
        await rejectsWithCode('path-escape', () => attributes.makeLink('/over/new', 'a'))
        await rejectsWithCode(['not-found', 'path-escape'], () => attributes.readMode('/over/a'))
        equal(await outputOf(ws, 'stat -c %a d/a; ls d'), '640\na')
      }),
  },
  {
    id: 'shell/attributes/a-link-replaces-nothing-and-leads-nowhere-else',
    needs: ['fs', 'processes'],
    run: (ws) =>
      withAttributes(ws, async (attributes) => {
        await run(ws, 'echo x > a; mkdir d')
        for (const path of ['/a', '/d']) {
          await rejectsWithCode('already-exists', () => attributes.makeLink(path, 'x'))
        }
        for (const target of ['/etc', '../x', 'd/../../x']) {
          await rejectsWithCode('path-escape', () => attributes.makeLink('/link', target))
        }
        await rejectsWithCode('not-found', () => attributes.readLink('/none'))
        await rejectsWithCode('not-found', () => attributes.readMode('/none'))
        const missing = [{ path: '/none', mode: 0o600 }]
        await rejectsWithCode('not-found', () => attributes.writeModes(missing))
        equal(await names(filesOf(ws), '/'), ['a', 'd'])
      }),
  },
]
