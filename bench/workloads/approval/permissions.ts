// What the rules of an agent cost a call: a command, a line of several commands, a path.
import { defineAgent, type PermissionRule } from '@helix-agents/core'
import { decideCall, injectWorkspaceTools, permissionsOf } from '@helix-agents/core/runtime'
import { measure } from '../../harness/measure.ts'
import { report, type Verdict } from '../../harness/report.ts'

const MOST_MICROSECONDS = 10
const RULES = 100

export async function run(): Promise<Verdict[]> {
  const commands = rules((index) => ({ command: `tool${index} sub *`, decision: 'ask' }))
  const paths = rules((index) => ({ path: `/dir${index}/**`, decision: 'ask', tool: 'ls' }))
  const measurements = await measure([
    { name: 'a command', run: decideWith(commands, 'run', { command: 'git status --short src' }) },
    {
      name: 'three commands',
      run: decideWith(commands, 'run', { command: 'cd src && npm test | tail' }),
    },
    {
      name: 'a file beside rules on others',
      run: decideWith(paths, 'read_file', { path: '/src/a.ts' }),
    },
  ])
  return [
    report({
      title: `permissions: ${RULES} rules decide on a call`,
      ours: 'three commands',
      limit: `${MOST_MICROSECONDS} µs`,
      measurements: [
        { name: `${MOST_MICROSECONDS} µs`, microseconds: MOST_MICROSECONDS },
        ...measurements,
      ],
      gate: { most: 1 },
    }),
  ]
}

function rules(make: (index: number) => PermissionRule): PermissionRule[] {
  return Array.from({ length: RULES }, (_, index) => make(index))
}

function decideWith(permissions: readonly PermissionRule[], name: string, input: unknown) {
  const agent = defineAgent({
    name: 'bench',
    llmConfig: { model: 'none' },
    workspaces: {
      box: { provider: { kind: 'in-memory' }, capabilities: { fs: true, shell: true } },
    },
    permissions,
  })
  const tool = injectWorkspaceTools(agent.workspaces, () => ({})).find((each) =>
    each.name.endsWith(`__${name}`),
  )
  const compiled = permissionsOf(agent)
  if (tool === undefined || compiled === undefined) throw new Error(`no tool ${name}`)
  const call = { tool, input, access: NO_ACCESS }
  return async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) await decideCall([compiled], call)
  }
}

/** No rule of these needs the workspace. */
const NO_ACCESS = new Proxy({} as Parameters<typeof decideCall>[1]['access'], {
  get: (_target, key) => {
    throw new Error(`the workspace is not opened for ${String(key)}`)
  },
})
