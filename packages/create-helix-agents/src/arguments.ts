import { parseArgs } from 'node:util'
import { CreateError } from './create-error.ts'

/** What the command line says. */
export interface Arguments {
  readonly folder?: string
  readonly name?: string
  readonly template?: string
  readonly packages?: string
  /** Asks nothing. */
  readonly isYes: boolean
  readonly isJson: boolean
  readonly isInstalled: boolean
  readonly isHelp: boolean
  readonly isVersion: boolean
}

const options = {
  name: { type: 'string', short: 'n' },
  template: { type: 'string', short: 't' },
  packages: { type: 'string' },
  yes: { type: 'boolean', short: 'y', default: false },
  json: { type: 'boolean', default: false },
  'no-install': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
  version: { type: 'boolean', short: 'V', default: false },
} as const

/** @throws {CreateError} `usage` for what is not understood. */
export function readArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parse(args)
  const [folder, ...rest] = positionals
  if (rest.length > 0) throw new CreateError('usage', `one folder is enough: ${rest.join(' ')}`)
  for (const [flag, value] of Object.entries({ ...values, folder })) {
    if (value === '') throw new CreateError('usage', `${flag} is empty`)
  }
  const { name, template, packages } = values
  return {
    ...(folder !== undefined && { folder }),
    ...(name !== undefined && { name }),
    ...(template !== undefined && { template }),
    ...(packages !== undefined && { packages }),
    isYes: values.yes,
    isJson: values.json,
    isInstalled: !values['no-install'],
    isHelp: values.help,
    isVersion: values.version,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (cause) {
    throw new CreateError('usage', cause instanceof Error ? cause.message : String(cause), {
      cause,
    })
  }
}
