import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { find, read, root } from '../repository.ts'

/** All packages are released together, with one text. */
const RELEASED = 'packages/core/CHANGELOG.md'

/** The changes of the next release, and of those before it, newest first. */
export function changelog(): string {
  const changes = find('.changeset/*.md').filter((file) => !file.endsWith('README.md'))
  const coming = changes.map((file) =>
    read(file)
      .replace(/^---\n[\s\S]*?\n---\n/, '')
      .trim(),
  )
  const released = existsSync(join(root, RELEASED)) ? read(RELEASED) : ''
  return [
    ...(coming.length > 0 ? ['## Not released yet', ...coming] : []),
    ...(released === '' ? [] : [released.replace(/^# .*\n/, '').trim()]),
  ].join('\n\n')
}
