// What a model and the rules of permissions know of each tool before it is called.
import { expect, test } from 'vitest'
import * as z from 'zod'
import type { ModuleTool } from '../../src/modules/define-module.ts'
import { codeConfigSchema } from '../../src/modules/code/config.ts'
import { fileSystemConfigSchema } from '../../src/modules/fs/config.ts'
import { allCapabilityFlags, allModules, workspaceModules } from '../../src/modules/list.ts'
import { shellConfigSchema } from '../../src/modules/shell/config.ts'
import { snapshotConfigSchema } from '../../src/modules/snapshot/config.ts'

/** An input for each argument that a tool may have. */
const ARGUMENTS: Readonly<Record<string, unknown>> = {
  code: '1 + 1',
  command: 'ls -l',
  content: 'text',
  contextId: 'context-1',
  edits: [{ oldText: 'a', newText: 'b' }],
  from: '/from',
  id: 'process-1',
  language: 'python',
  newText: 'b',
  oldText: 'a',
  patch: '--- a/one\n+++ b/two\n@@ -1 +1 @@\n-a\n+b\n',
  path: '/path',
  pattern: 'x',
  ref: { providerId: 'p', ref: { id: 1 } },
  to: '/to',
}

const OPTIONS: Readonly<Record<string, object>> = {
  grep: { path: '/below', includeGlob: '*.ts' },
  rm: { recursive: true },
  run: { env: { PATH: '/bin' } },
}

async function factsOf<Contract, Config>(
  tool: ModuleTool<Contract, Config>,
  config: Config,
): Promise<string> {
  const { name, annotations, description, inputSchema } = tool
  const schema = z.toJSONSchema(inputSchema, { io: 'input' })
  const wanted = Object.keys(schema.properties ?? {})
  const named = Object.entries(ARGUMENTS).filter(([key]) => wanted.includes(key))
  const least = Object.fromEntries(named)
  const most = OPTIONS[name] === undefined ? least : { ...least, opts: OPTIONS[name] }
  const calls = await Promise.all(
    [least, most].map(async (given) => {
      const input = inputSchema.parse(given)
      return { command: tool.command?.(input), paths: await tool.paths?.(input) }
    }),
  )
  const { properties = {}, $schema: _, ...rest } = schema
  const facts = [annotations, rest, ...Object.entries(properties), ...calls]
  const text = typeof description === 'string' ? description : description(config)
  return `## ${name}\n${text}\n${facts.map((fact) => JSON.stringify(fact)).join('\n')}\n`
}

async function toolsOf<Contract, Config>(
  what: string,
  tools: readonly ModuleTool<Contract, Config>[],
  config: Config,
): Promise<string> {
  const flags = Object.fromEntries(allCapabilityFlags().map((flag) => [flag, true]))
  const there = tools.filter((tool) => tool.available(config, flags))
  const facts = await Promise.all(there.map((tool) => factsOf(tool, config)))
  return `# ${what}\n\n${facts.join('\n')}`
}

test('each tool of each module, word for word', async () => {
  const { fs, shell, code, snapshot } = workspaceModules
  const readFirst = { extended: true, requireReadBeforeWrite: true }
  const told = fs.tools.filter(({ description }) => typeof description === 'function')
  const parts = [
    await toolsOf('files', fs.tools, fileSystemConfigSchema.parse({ extended: true })),
    await toolsOf('files, read first', told, fileSystemConfigSchema.parse(readFirst)),
    await toolsOf('shell', shell.tools, shellConfigSchema.parse({})),
    await toolsOf('shell, background', shell.tools, shellConfigSchema.parse({ background: true })),
    await toolsOf('code', code.tools, codeConfigSchema.parse({ isStateful: true })),
    await toolsOf('snapshot', snapshot.tools, snapshotConfigSchema.parse({})),
  ]
  await expect(parts.join('\n')).toMatchFileSnapshot('tool-facts.txt')
})

const namesOf = (config: object, flags: Readonly<Record<string, boolean>>) =>
  allModules().flatMap(({ name, configSchema, tools }) => {
    const parsed: unknown = configSchema.parse(Reflect.get(config, name) ?? {})
    return tools.filter((tool) => tool.available(parsed, flags)).map((tool) => tool.name)
  })

test('tools that the policy or the provider has no use for are left out', () => {
  const least = namesOf({}, {})
  expect(least.join(' ')).toBe(
    'read_file write_file edit_file ls glob grep stat mkdir rm run run_code snapshot restore',
  )
  const config = { shell: { background: true }, code: { isStateful: true } }
  const more = namesOf(config, { branch: true }).filter((name) => !least.includes(name))
  expect(more.join(' ')).toBe(
    'process_list process_output process_kill create_code_context run_in_code_context delete_code_context branch',
  )
})

test('modules, their optional parts, and what changes no file', () => {
  expect(allModules().map(({ name, flags, reads }) => ({ name, flags, reads })))
    .toMatchInlineSnapshot(`
    [
      {
        "flags": undefined,
        "name": "fs",
        "reads": [
          "readFile",
          "ls",
          "glob",
          "grep",
          "stat",
          "readStream",
          "readText",
          "realPath",
          "watch",
          "withoutLinks",
          "readLink",
          "readMode",
          "readAhead",
        ],
      },
      {
        "flags": undefined,
        "name": "shell",
        "reads": [
          "list",
          "output",
        ],
      },
      {
        "flags": undefined,
        "name": "code",
        "reads": undefined,
      },
      {
        "flags": [
          "branch",
        ],
        "name": "snapshot",
        "reads": [
          "snapshot",
          "restore",
          "branch",
        ],
      },
    ]
  `)
  expect(allCapabilityFlags()).toEqual(['fs', 'shell', 'code', 'snapshot', 'branch'])
})
