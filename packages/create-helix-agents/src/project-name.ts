import { basename } from 'node:path'
import validate from 'validate-npm-package-name'
import { CreateError } from './create-error.ts'

const MAX_WORKER_NAME = 63

/** @throws {CreateError} `name-invalid` for what npm does not take as the name of a new package. */
export function checkName(name: string): string {
  const problem = nameProblem(name)
  if (problem === undefined) return name
  throw new CreateError(
    'name-invalid',
    `${JSON.stringify(name)} is no name of a package: ${problem}`,
  )
}

/** What is wrong with a name, in the words of npm; `undefined` when it is valid. */
export function nameProblem(name: string): string | undefined {
  const { validForNewPackages, errors = [], warnings = [] } = validate(name)
  return validForNewPackages ? undefined : [...errors, ...warnings].join('; ')
}

/** The name of a project in a folder: its last part, without what npm does not take. */
export function nameOfFolder(folder: string): string {
  const plain = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '')
    .replace(/-+$/, '')
  return plain === '' ? 'my-agent' : plain
}

/** The folder of a project of which only the name is known: without its scope. */
export function folderOfName(name: string): string {
  return name.split('/').at(-1) ?? name
}

/** A name that Cloudflare takes for a Worker: letters, digits and dashes. */
export function workerName(name: string): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  return plain.slice(0, MAX_WORKER_NAME).replaceAll(/^-+|-+$/g, '') || 'my-agent'
}
