import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineTool, type FileSystem } from '@helix-agents/core'
import * as z from 'zod'

/** Packages that the tool hands out: those this example depends on. */
const offered = ['ms'] as const

/**
 * A tool of our own beside the injected ones: it copies an installed package into the workspace,
 * once to work on and once to compare with. It works with every provider, since it only uses the
 * `FileSystem` contract.
 */
export const checkoutPackageTool = defineTool({
  name: 'checkout_package',
  description: 'Copies an npm package to /<name>, and its untouched original to /original.',
  inputSchema: z.strictObject({ name: z.enum(offered) }),
  annotations: { readOnly: false, destructive: false, idempotent: true },
  execute: async ({ name }, context) => {
    const files = readPackage(name)
    await context.workspaces.use('box', ({ live }) => copyFiles(live.fs, name, files), {
      idempotent: true,
      signal: context.abortSignal,
    })
    return { summary: describePackage(files), paths: files.map((file) => `/${name}/${file.name}`) }
  },
  toModelOutput: ({ summary, paths }) => [summary, ...paths].join('\n'),
})

interface PackageFile {
  readonly name: string
  readonly content: Buffer
}

function readPackage(name: string): PackageFile[] {
  const folder = dirname(fileURLToPath(import.meta.resolve(name)))
  return readdirSync(folder)
    .toSorted()
    .filter((file) => statSync(join(folder, file)).isFile())
    .map((file) => ({ name: file, content: readFileSync(join(folder, file)) }))
}

function describePackage(files: readonly PackageFile[]): string {
  const manifest = files.find((file) => file.name === 'package.json')?.content.toString() ?? '{}'
  const { name, version, license } = JSON.parse(manifest) as Readonly<Record<string, string>>
  return `${name} ${version} (${license}), ${files.length} files`
}

async function copyFiles(
  fs: FileSystem | undefined,
  name: string,
  files: readonly PackageFile[],
): Promise<void> {
  if (fs === undefined) throw new Error('the workspace has no files')
  for (const file of files) {
    await fs.writeFile(`/${name}/${file.name}`, file.content)
    await fs.writeFile(`/original/${file.name}`, file.content)
  }
}
