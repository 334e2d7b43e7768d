import { join } from 'node:path'
import type {
  WorkspaceCapabilityFlags,
  WorkspaceProvider,
} from '../../packages/core/src/provider.ts'
import { find, root } from '../repository.ts'

/** What the constructors of providers ask for. Only asked what it is: nothing is stored or reached. */
const stubs = {
  storage: {
    sql: { exec: () => ({ toArray: () => [] }) },
    transactionSync: <T>(work: () => T): T => work(),
  },
  driver: (): never => {
    throw new Error('the docs open no sandbox')
  },
}

/** What makes some providers offer more. Nothing is run. */
const engines = { shell: {}, code: {} }

/** A provider of each package that has one: it exports a class `…WorkspaceProvider`. Least first. */
export const offeredProviders = await providersWith(stubs)

const withEngines = await providersWith({ ...stubs, ...engines })

/** What a provider offers when it gets engines for it. */
export function offersWithEngines({ providerId }: WorkspaceProvider): WorkspaceCapabilityFlags {
  return withEngines.find((provider) => provider.providerId === providerId)?.capabilities ?? {}
}

async function providersWith(options: object): Promise<readonly WorkspaceProvider[]> {
  const files = find('packages/workspace-*/src/index.ts')
  const providers = await Promise.all(files.map((file) => providersOf(file, options)))
  return providers.flat().toSorted((a, b) => offersOf(a) - offersOf(b))
}

function offersOf({ capabilities }: WorkspaceProvider): number {
  return Object.values(capabilities).filter(Boolean).length
}

async function providersOf(file: string, options: object): Promise<readonly WorkspaceProvider[]> {
  const exports = (await import(join(root, file))) as Readonly<Record<string, unknown>>
  return Object.entries(exports).flatMap(([name, value]) =>
    name.endsWith('WorkspaceProvider') && typeof value === 'function'
      ? [new (value as new (of: object) => WorkspaceProvider)(options)]
      : [],
  )
}
