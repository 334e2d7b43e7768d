import { join } from 'node:path'
import type { WorkspaceProvider } from '../../packages/core/src/provider.ts'
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

/** A provider of each package that has one: it exports a class `…WorkspaceProvider`. Least first. */
export const offeredProviders: readonly WorkspaceProvider[] = (
  await Promise.all(find('packages/workspace-*/src/index.ts').map(providersOf))
)
  .flat()
  .toSorted((a, b) => offersOf(a) - offersOf(b))

function offersOf({ capabilities }: WorkspaceProvider): number {
  return Object.values(capabilities).filter(Boolean).length
}

async function providersOf(file: string): Promise<readonly WorkspaceProvider[]> {
  const exports = (await import(join(root, file))) as Readonly<Record<string, unknown>>
  return Object.entries(exports).flatMap(([name, value]) =>
    name.endsWith('WorkspaceProvider') && typeof value === 'function'
      ? [new (value as new (options: object) => WorkspaceProvider)(stubs)]
      : [],
  )
}
