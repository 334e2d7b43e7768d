import { listed } from './sed-text.ts'
import {
  type SedAction,
  type SedCommand,
  type SedProgram,
  type SedSubstitution,
} from './sed-program.ts'
import { SedOutput } from './sed-output.ts'
import { type SedPlace, SedSelection } from './sed-selection.ts'
import type { SedSearch } from './sed-search.ts'
import type { SedWork } from './sed-work.ts'

export interface SedLine {
  readonly text: string
  /** False for the end of a text without a line feed. */
  readonly isEnded: boolean
  readonly file: string
}

export interface SedSetup {
  readonly program: SedProgram
  readonly search: SedSearch
  readonly work: SedWork
  readonly isQuiet: boolean
  /** What ends a line. */
  readonly delimiter: string
  /** Reads a file for `r` and `R`; undefined: it is not there. */
  readonly readFile: (path: string) => Promise<string | undefined>
}

type Step = number | 'end' | 'restart' | 'quit'

/** Runs one script over lines. */
export class SedEditor {
  /** What `w` wrote, by path. */
  readonly written = new Map<string, SedOutput>()
  exitCode = 0
  readonly output: SedOutput
  readonly #setup: SedSetup
  readonly #selection: SedSelection
  readonly #appended: (() => Promise<void>)[] = []
  readonly #readLines = new Map<string, string[]>()
  #lines: readonly SedLine[] = []
  #number = 0
  #space = ''
  #hold = ''
  /** What is printed ends with a line feed: not so for a last line without one. */
  #isEnded = true
  #isHoldEnded = true
  #isSubstituted = false

  constructor(setup: SedSetup) {
    this.#setup = setup
    this.#selection = new SedSelection(setup.search)
    this.output = new SedOutput(setup.work, setup.delimiter)
  }

  async run(lines: readonly SedLine[]): Promise<void> {
    this.#lines = lines
    let keepsSpace = false
    while (keepsSpace || this.#number < lines.length) {
      if (!keepsSpace) this.#read()
      const step = await this.#cycle()
      await this.#flush()
      if (step === 'quit') return
      keepsSpace = step === 'restart'
    }
  }

  get #line(): SedLine | undefined {
    return this.#lines[this.#number - 1]
  }

  get #place(): SedPlace {
    return { text: this.#space, number: this.#number, isLast: this.#isLast }
  }

  get #isLast(): boolean {
    return this.#number >= this.#lines.length
  }

  #read(): void {
    this.#number += 1
    this.#space = this.#line?.text ?? ''
    this.#isEnded = this.#line?.isEnded ?? true
    this.#isSubstituted = false
  }

  /** All commands, for one line. */
  async #cycle(): Promise<Step> {
    const { program, work } = this.#setup
    const { commands } = program
    let at = 0
    while (at < commands.length) {
      work.command()
      if (work.needsTurn) await work.turn()
      const command = commands[at]
      if (command === undefined) break
      const step: Step = this.#selection.has(command, this.#place)
        ? await this.#perform(command.action, command, at)
        : behind(command.action, at)
      if (typeof step !== 'number') return step
      at = step
    }
    this.#autoprint()
    return 'end'
  }

  #autoprint(): void {
    if (!this.#setup.isQuiet) this.#print(this.#space)
  }

  #print(text: string): void {
    this.output.line(text, this.#isEnded)
  }

  async #flush(): Promise<void> {
    for (const append of this.#appended.splice(0)) await append()
  }

  async #perform(action: SedAction, command: SedCommand, at: number): Promise<Step> {
    switch (action.type) {
      case 's': {
        await this.#substitute(action)
        return at + 1
      }
      case 'y': {
        this.#setup.work.search(this.#space.length)
        this.#space = Array.from(this.#space, (one) => action.map.get(one) ?? one).join('')
        return at + 1
      }
      case 'text':
        return this.#text(action, command, at)
      case 'file':
        return this.#file(action, at)
      case 'branch':
        return this.#branches(action.name) ? action.target : at + 1
      case 'quit': {
        this.exitCode = action.exitCode
        if (action.name === 'q') this.#autoprint()
        return 'quit'
      }
      case 'simple':
        return this.#simple(action.name, at)
      default:
        return at + 1
    }
  }

  async #substitute(substitution: SedSubstitution): Promise<void> {
    const replaced = await this.#setup.search.substitute(this.#space, substitution)
    if (replaced === undefined) return
    this.#space = replaced
    this.#isSubstituted = true
    if (substitution.prints) this.#print(replaced)
    if (substitution.file !== undefined) this.#outputOf(substitution.file).line(replaced)
  }

  #branches(name: string): boolean {
    if (name === 'b') return true
    const wasSubstituted = this.#isSubstituted
    this.#isSubstituted = false
    return name === 't' ? wasSubstituted : !wasSubstituted
  }

  #text({ name, text }: Extract<SedAction, { type: 'text' }>, command: SedCommand, at: number) {
    if (name === 'i') this.output.add(text)
    else if (name === 'a') this.#append(async () => this.output.add(text))
    else {
      const isInside = command.to !== undefined && !command.isNegated
      if (!isInside || !this.#selection.isInside(command)) this.output.add(text)
      return 'end' as const
    }
    return at + 1
  }

  #append(append: () => Promise<void>): void {
    this.#appended.push(append)
  }

  #file({ name, file }: Extract<SedAction, { type: 'file' }>, at: number): Step {
    if (name === 'w') this.#outputOf(file).line(this.#space)
    else if (name === 'W') this.#outputOf(file).line(firstLine(this.#space, this.#setup.delimiter))
    else if (name === 'r') {
      this.#append(async () => this.output.add((await this.#setup.readFile(file)) ?? ''))
    } else this.#append(() => this.#readLine(file))
    return at + 1
  }

  async #readLine(file: string): Promise<void> {
    let lines = this.#readLines.get(file)
    if (lines === undefined) {
      const text = (await this.#setup.readFile(file)) ?? ''
      lines = text === '' ? [] : text.replace(/\n$/, '').split('\n').toReversed()
      this.#readLines.set(file, lines)
    }
    const line = lines.pop()
    if (line !== undefined) this.output.line(line)
  }

  #outputOf(file: string): SedOutput {
    if (file === '/dev/stdout') return this.output
    const output = this.written.get(file) ?? new SedOutput(this.#setup.work, this.#setup.delimiter)
    this.written.set(file, output)
    return output
  }

  #simple(name: string, at: number): Step {
    if (name === 'd') return 'end'
    if (name === 'D') return this.#deleteFirst()
    if (name === 'n' || name === 'N') return this.#next(name, at)
    this.#show(name)
    this.#exchange(name)
    return at + 1
  }

  #deleteFirst(): Step {
    const end = this.#space.indexOf(this.#setup.delimiter)
    if (end === -1) return 'end'
    this.#space = this.#space.slice(end + 1)
    return 'restart'
  }

  #show(name: string): void {
    if (name === 'p') this.#print(this.#space)
    else if (name === 'P') this.#printFirst()
    else if (name === '=') this.output.line(`${this.#number}`)
    else if (name === 'l') this.output.line(listed(this.#space))
    else if (name === 'F') this.output.line(this.#line?.file ?? '-')
  }

  #printFirst(): void {
    const { delimiter } = this.#setup
    if (!this.#space.includes(delimiter)) this.#print(this.#space)
    else this.output.line(firstLine(this.#space, delimiter))
  }

  #exchange(name: string): void {
    const [space, isEnded] = [this.#space, this.#isEnded]
    if (name === 'z') this.#space = ''
    if (name === 'G') this.#space = this.#joined(space, this.#hold)
    if (name === 'H') this.#hold = this.#joined(this.#hold, space)
    if (name === 'g' || name === 'x') this.#space = this.#hold
    if (name === 'h' || name === 'x') this.#hold = space
    if ('gGx'.includes(name)) this.#isEnded = this.#isHoldEnded
    if ('hHx'.includes(name)) this.#isHoldEnded = isEnded
  }

  #next(name: string, at: number): Step {
    if (this.#isLast) {
      this.#autoprint()
      return 'quit'
    }
    const before = this.#space
    if (name === 'n') this.#autoprint()
    this.#number += 1
    const { text = '', isEnded = true } = this.#line ?? {}
    this.#isEnded = isEnded
    this.#space = name === 'N' ? this.#joined(before, text) : text
    return at + 1
  }

  #joined(one: string, other: string): string {
    this.#setup.work.grow(one.length + other.length + 1, 'a pattern space')
    return `${one}${this.#setup.delimiter}${other}`
  }
}

/** Where the script goes on when the address of a command does not select the line. */
function behind(action: SedAction, at: number): number {
  return action.type === 'group' ? action.end : at + 1
}

function firstLine(text: string, delimiter: string): string {
  const end = text.indexOf(delimiter)
  return end === -1 ? text : text.slice(0, end)
}
