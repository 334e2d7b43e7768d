import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { CreateError } from './create-error.ts'

/** A kind of project. */
export interface Template {
  /** Such as `terminal`. */
  readonly name: string
  /** What the project is, in a few words. */
  readonly description: string
  /** Where its files are. */
  readonly folder: string
}

const ORDER = ['terminal', 'chat', 'worker', 'worker-sandbox']
const manifestSchema = z.object({ description: z.string() })

/** The templates of a folder, the simplest first. */
export function listTemplates(folder: string): readonly Template[] {
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'))
  return names
    .toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b))
    .map((name) => {
      const manifest: unknown = JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8'))
      const { description } = manifestSchema.parse(manifest)
      return { name, description, folder: join(folder, name) }
    })
}

/** @throws {CreateError} `template-unknown` */
export function findTemplate(folder: string, name: string): Template {
  const templates = listTemplates(folder)
  const found = templates.find((one) => one.name === name)
  if (found !== undefined) return found
  const known = templates.map((one) => one.name).join(', ')
  const problem = `there is no template ${JSON.stringify(name)}; there are ${known}`
  throw new CreateError('template-unknown', problem)
}
