import { describe, expect, test } from 'vitest'
import { entryPoints, nameLists } from './public-names.ts'
import { packageFolders } from './repository.ts'

/** Names without TSDoc. This list may only shrink. */
const undocumented: ReadonlySet<string> = new Set([
  'AgentServerOptions',
  'BackgroundProcess',
  'BoundBehaviour',
  'BranchOptions',
  'CodeConfig',
  'CodeConfigInput',
  'CodeContextId',
  'CodeOutput',
  'DeleteOptions',
  'DriverErrorOptions',
  'DurableObjectStores',
  'DurableObjectStoresOptions',
  'ExecuteOptions',
  'FaultKind',
  'FaultOf',
  'FileStat',
  'FileStoreSqlRow',
  'FileSystemConfig',
  'FileSystemConfigInput',
  'GlobOptions',
  'GrepMatch',
  'GrepOptions',
  'GrepResult',
  'InMemoryProviderOptions',
  'InMemoryStreamManagerOptions',
  'JSAgentExecutorOptions',
  'KitOpenOptions',
  'LocalBashConfig',
  'LocalBashInventoryOptions',
  'LocalBashIsolation',
  'LocalBashResources',
  'LocalBashWorkspaceProviderOptions',
  'ModelProviders',
  'NextProcessOutput',
  'NodeWorkHostOptions',
  'PlannedUsage',
  'ProcessOutput',
  'ReadStreamOptions',
  'ReapOptions',
  'ResumeOptions',
  'RouteAgentOptions',
  'RunCodeOptions',
  'RunCodeResult',
  'RunResult',
  'SandboxNamespace',
  'SdkDriverOptions',
  'SeenResult',
  'ShellConfig',
  'ShellConfigInput',
  'ShellRunOptions',
  'ShutdownOptions',
  'SnapshotConfig',
  'SnapshotConfigInput',
  'SnapshotOptions',
  'SqlRow',
  'SqlStreamManagerOptions',
  'SqliteDatabaseOptions',
  'SqliteStoresOptions',
  'TmpdirFileSystemOptions',
  'TransferOptions',
  'UIMessageStreamOptions',
  'WriteOptions',
  'codeBehaviours',
])

const entries = packageFolders().flatMap((folder) => entryPoints(folder))

test.each(nameLists())('$file lists the public names: `pnpm api:gen` writes it', (list) => {
  expect(list.current).toBe(list.derived)
})

test('a name of core stands behind one entry point', () => {
  const core = entries.filter(({ specifier }) => specifier.startsWith('@helix-agents/core'))
  const names = core.flatMap(({ declarations }) => declarations.map(({ name }) => name))
  expect(core.length).toBe(4)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

describe('a public name', () => {
  test('means one thing in all packages', () => {
    const meanings = new Map<string, Set<string>>()
    for (const { name, source } of entries.flatMap(({ declarations }) => declarations)) {
      meanings.set(name, (meanings.get(name) ?? new Set()).add(source))
    }
    const twice = [...meanings].filter(([, sources]) => sources.size > 1).map(([name]) => name)
    expect(twice).toEqual([])
  })

  test('has TSDoc that says what it is', () => {
    const silent = entries.flatMap(({ specifier, declarations }) =>
      declarations
        .filter(({ name, says }) => says === '' && !undocumented.has(name))
        .map(({ name }) => `${specifier}: ${name}`),
    )
    expect(silent).toEqual([])
  })
})
