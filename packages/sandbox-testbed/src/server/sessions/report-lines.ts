import type { Readable } from 'node:stream'

/** What a session shell says about a command. */
export interface ShellReport {
  readonly event: 'done' | 'started'
  readonly number: number
  /** The exit code, or the process id of a command in the background. */
  readonly value: number
}

/** Reads the reports of a session shell from its pipe. */
export function onReport(pipe: Readable, listener: (report: ShellReport) => void): void {
  let rest = ''
  pipe.setEncoding('utf8')
  pipe.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const [event, number, value] = line.split(' ')
      if (event !== 'done' && event !== 'started') continue
      listener({ event, number: Number(number), value: Number(value) })
    }
  })
}
