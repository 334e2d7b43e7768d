import { defineTool, type Tool } from '@helix-agents/core'
import type { FileSystem } from '@helix-agents/core/provider'
import * as z from 'zod'

/** Packages that the tool hands out: those this example depends on. */
const offered = ['ms'] as const

export interface PackageFile {
  readonly name: string
  readonly content: Uint8Array
}

/** Where packages come from: a disk has them, a Worker carries them in its bundle. */
export type ReadPackage = (name: (typeof offered)[number]) => readonly PackageFile[]

/**
 * A tool of our own beside the injected ones: it copies an installed package into the workspace,
 * once to work on and once to compare with. It works with every provider, since it only uses the
 * `FileSystem` contract.
 */
export function createCheckoutTool(readPackage: ReadPackage): Tool {
  return defineTool({
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
      const paths = files.map((file) => `/${name}/${file.name}`)
      return { summary: describePackage(files), paths }
    },
    toModelOutput: ({ summary, paths }) => [summary, ...paths].join('\n'),
  })
}

function describePackage(files: readonly PackageFile[]): string {
  const manifest = files.find((file) => file.name === 'package.json')?.content
  const text = manifest === undefined ? '{}' : new TextDecoder().decode(manifest)
  const { name, version, license } = JSON.parse(text) as Readonly<Record<string, string>>
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
