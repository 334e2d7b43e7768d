import type { Logger } from '../logging/logger.ts'

/** One recorded log line. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Keeps every line, for assertions. */
export class RecordingLogger implements Logger {
  readonly lines: LogLine[] = []

  debug = this.#record('debug')
  info = this.#record('info')
  warn = this.#record('warn')
  error = this.#record('error')

  /** The lines with this text. */
  with(message: string): readonly LogLine[] {
    return this.lines.filter((line) => line.message === message)
  }

  #record(level: LogLine['level']): (fields: object, message: string) => void {
    return (fields, message) => this.lines.push({ level, message, fields: { ...fields } })
  }
}
