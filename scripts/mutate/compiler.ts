import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { RepositoryCopy } from './repository-copy.ts'
import type { NumberedMutant } from './schema.ts'

/** An error of the compiler; `line` is left out, as a mutant may move what follows it. */
interface CompilerError {
  readonly file: string
  readonly message: string
}

/**
 * The mutants of a package that the compiler accepts, in one program: each stands beside its file
 * under a name of its own. An error that the unchanged text has there too, such as a private field
 * that is another one, is not the mutant's.
 */
export function compilingMutants(
  mutants: readonly NumberedMutant[],
  originalOf: (file: string) => string,
  copy: RepositoryCopy,
): readonly NumberedMutant[] {
  if (mutants.length === 0) return []
  const folder = (mutants[0]?.file ?? '').split('/').slice(0, 2).join('/')
  const texts = new Map(mutants.map(({ file, id, text }) => [besideOf(file, id), text]))
  for (const { file } of mutants) texts.set(besideOf(file, 0), originalOf(file))
  for (const [file, text] of texts) copy.write(file, text)
  const files = [...texts.keys()].map((file) => file.slice(folder.length + 1))
  copy.write(join(folder, 'tsconfig.mutants.json'), JSON.stringify(configOf(files)))
  try {
    const errors = compile(copy.folder, folder)
    return mutants.filter(({ file, id }) => !hasOwnError(errors, file, id))
  } finally {
    copy.restore()
  }
}

function besideOf(file: string, id: number): string {
  return file.replace(/\.ts$/, `.mutant${id}.ts`)
}

function configOf(files: readonly string[]): unknown {
  const compilerOptions = {
    noEmit: true,
    composite: false,
    incremental: false,
    declaration: false,
    emitDeclarationOnly: false,
    rewriteRelativeImportExtensions: false,
    allowImportingTsExtensions: true,
    rootDir: '../..',
    tsBuildInfoFile: null,
    outDir: null,
  }
  return {
    extends: './tsconfig.json',
    compilerOptions,
    files,
    include: ['src/**/*.d.ts'],
    references: [],
  }
}

function compile(root: string, folder: string): readonly CompilerError[] {
  const args = ['-p', join(folder, 'tsconfig.mutants.json'), '--pretty', 'false']
  const { stdout, error } = spawnSync('node_modules/.bin/tsc', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (error !== undefined) throw error
  const errors = [...stdout.matchAll(/^(?<file>[^(\n]+)\(\d+,\d+\): error (?<message>.+)$/gm)]
  const failure = /^error .+/m.exec(stdout)
  if (failure !== null) throw new Error(`the mutants cannot be compiled: ${failure[0]}`)
  return errors.map(({ groups }) => ({
    file: groups?.file ?? '',
    message: groups?.message ?? '',
  }))
}

/** Whether a mutant has an error, or one more often, than the unchanged text. */
function hasOwnError(errors: readonly CompilerError[], file: string, id: number): boolean {
  const messagesOf = (number: number): readonly string[] =>
    errors
      .filter((error) => error.file === besideOf(file, number))
      .map(({ message }) => message.replaceAll(/\.mutant\d+/g, ''))
  const left = [...messagesOf(0)]
  return messagesOf(id).some((message) => {
    const index = left.indexOf(message)
    if (index >= 0) left.splice(index, 1)
    return index < 0
  })
}
