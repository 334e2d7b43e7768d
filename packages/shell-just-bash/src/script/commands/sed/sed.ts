import type { Command } from 'just-bash'
import { bytesOfLatin1, utf8Latin1 } from '../../byte-strings.ts'
import type { ScriptLimits } from '../../script.ts'
import { sedSubstitute } from '../filters/sed-substitute.ts'
import { bytesResult, isAscii } from '../filters/input.ts'
import { type CommandContext, type CommandResult, EMPTY } from '../gnu/operands.ts'
import { parseSed } from './parse-sed.ts'
import { SedEditor, type SedLine } from './sed-editor.ts'
import { SedError, type SedProgram } from './sed-program.ts'
import { SedSearch } from './sed-search.ts'
import { readSedArguments, type SedArguments } from './sed-arguments.ts'
import { SedWork } from './sed-work.ts'

const MISSING = 2

/**
 * sed as of GNU. That of just-bash holds the thread for as long as a pattern space can grow; this one
 * knows the length of a text before it makes it and lets timers run.
 */
export function sedCommand(limits: ScriptLimits): Command {
  return {
    name: 'sed',
    execute: async (args, context) => {
      try {
        return (await sedSubstitute(args, context)) ?? (await new Sed(context, limits).run(args))
      } catch (error) {
        if (!(error instanceof SedError)) throw error
        return { ...EMPTY, stderr: `sed: ${error.message}\n`, exitCode: error.exitCode }
      }
    },
  }
}

interface Source {
  readonly name: string
  /** One character is one byte. */
  readonly text: string
}

class Sed {
  readonly #context: CommandContext
  readonly #limits: ScriptLimits
  readonly #work: SedWork
  #stderr = ''
  #exitCode = 0
  /** Texts are in UTF-8; else a character is a byte. */
  #isUtf8 = true

  constructor(context: CommandContext, limits: ScriptLimits) {
    this.#context = context
    this.#limits = limits
    this.#work = new SedWork(limits, context.signal)
  }

  async run(args: readonly string[]): Promise<CommandResult> {
    const given = readSedArguments(args)
    const sources = await this.#sources(given)
    this.#isUtf8 = sources.every(({ text }) => isUtf8(text))
    const script = await this.#script(given)
    const program = parseSed(this.#isUtf8 ? script : utf8Latin1(script))
    const search = await SedSearch.load(given.isExtended, this.#work)
    for (const { from, to, action } of program.commands) {
      for (const address of [from, to]) {
        if (address?.type === 'pattern') search.check(address.pattern)
      }
      if (action.type === 's') search.check(action.pattern)
    }
    const shown = given.isSeparate
      ? await this.#each(sources, given, { program, search })
      : await this.#edit(sources, given, { program, search })
    return { ...bytesResult(shown, this.#exitCode), stderr: this.#stderr }
  }

  async #each(
    sources: readonly Source[],
    given: SedArguments,
    made: { readonly program: SedProgram; readonly search: SedSearch },
  ): Promise<string> {
    const shown: string[] = []
    for (const source of sources) {
      const text = await this.#edit([source], given, made)
      if (given.suffix === undefined) shown.push(text)
      else await this.#replace(source.name, text, given.suffix)
    }
    return shown.join('')
  }

  async #replace(name: string, text: string, suffix: string): Promise<void> {
    const { fs, cwd } = this.#context
    const path = fs.resolvePath(cwd, name)
    if (suffix !== '') {
      const copy = suffix.includes('*') ? suffix.replaceAll('*', name) : name + suffix
      await fs.cp(path, fs.resolvePath(cwd, copy))
    }
    await fs.writeFile(path, text, 'binary')
  }

  /** The output, one character a byte. */
  async #edit(
    sources: readonly Source[],
    given: SedArguments,
    { program, search }: { readonly program: SedProgram; readonly search: SedSearch },
  ): Promise<string> {
    const editor = new SedEditor({
      program,
      search,
      work: this.#work,
      isQuiet: given.isQuiet || program.isQuiet,
      delimiter: given.delimiter,
      readFile: (path) => this.#read(path).then((text) => text && this.#decoded(text)),
    })
    await editor.run(sources.flatMap((source) => this.#linesOf(source, given.delimiter)))
    const { fs, cwd } = this.#context
    for (const [path, output] of editor.written) {
      const text = this.#encoded(output.text())
      if (path === '/dev/stderr') this.#stderr += text
      else await fs.writeFile(fs.resolvePath(cwd, path), text, 'binary')
    }
    if (editor.exitCode !== 0) this.#exitCode = editor.exitCode
    return this.#encoded(editor.output.text())
  }

  #linesOf({ name, text }: Source, delimiter: string): SedLine[] {
    if (text === '') return []
    const isEnded = text.endsWith(delimiter)
    const lines = this.#decoded(isEnded ? text.slice(0, -1) : text).split(delimiter)
    const last = lines.length - 1
    return lines.map((line, index) => ({
      text: line,
      isEnded: isEnded || index < last,
      file: name,
    }))
  }

  async #script({ parts }: SedArguments): Promise<string> {
    const scripts: string[] = []
    for (const { text, file } of parts) {
      if (file === undefined) {
        scripts.push(text)
        continue
      }
      const content = await this.#read(file)
      if (content === undefined) {
        throw new SedError(`couldn't open file ${file}: No such file or directory`)
      }
      scripts.push(decode(content).replace(/\n$/, ''))
    }
    return scripts.join('\n')
  }

  async #sources({ files, suffix, delimiter }: SedArguments): Promise<Source[]> {
    const sources: Source[] = []
    let total = 0
    for (const name of files.length === 0 ? ['-'] : files) {
      const text = name === '-' && suffix === undefined ? this.#stdin() : await this.#read(name)
      if (text === undefined) this.#missing(name)
      else {
        total += text.length
        if (total > this.#limits.maxMemoryBytes / 2) throw new SedError('ended: too much input')
        sources.push({ name, text })
      }
    }
    return suffix === undefined ? withEnds(sources, delimiter) : sources
  }

  #missing(name: string): void {
    this.#stderr += `sed: can't read ${name}: No such file or directory\n`
    this.#exitCode = MISSING
  }

  #stdin(): string {
    // oxlint-disable-next-line typescript/no-base-to-string -- the type is opaque: a string of bytes
    return String(this.#context.stdin)
  }

  async #read(name: string): Promise<string | undefined> {
    if (name === '/dev/stdin') return this.#stdin()
    const { fs, cwd } = this.#context
    const path = fs.resolvePath(cwd, name)
    if (!(await fs.exists(path)) || (await fs.stat(path)).isDirectory) return undefined
    return fs.readFile(path, 'binary')
  }

  #decoded(text: string): string {
    return this.#isUtf8 ? decode(text) : text
  }

  #encoded(text: string): string {
    return this.#isUtf8 && !isAscii(text) ? utf8Latin1(text) : text
  }
}

/** The last line of a file ends where another file follows. */
function withEnds(sources: readonly Source[], delimiter: string): Source[] {
  return sources.map((source, index) => {
    const isOpen = source.text !== '' && !source.text.endsWith(delimiter)
    const hasMore = sources.slice(index + 1).some(({ text }) => text !== '')
    return isOpen && hasMore ? { ...source, text: `${source.text}${delimiter}` } : source
  })
}

function decode(text: string): string {
  return isAscii(text)
    ? text
    : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytesOfLatin1(text))
}

function isUtf8(text: string): boolean {
  if (isAscii(text)) return true
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytesOfLatin1(text))
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}
