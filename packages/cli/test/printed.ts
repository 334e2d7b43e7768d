import type { Ran, TestHost } from './test-host.ts'

/** What a command prints into a pipe, on terminals of three widths, and as JSON. */
export async function printedBy(host: TestHost, args: readonly string[]): Promise<string> {
  const terminal = (columns: number): Promise<Ran> => host.run(args, { isTTY: true, columns })
  return [
    section(`helix ${args.join(' ')}`, await host.run(args)),
    section('on a wide terminal', await terminal(200)),
    section('on a narrow terminal', await terminal(110)),
    section('on a very narrow terminal', await terminal(72)),
    section('--json', await host.run([...args, '--json'])),
  ].join('\n')
}

/** All that one run has said, with colours in words. */
export function section(title: string, { code, out, err }: Ran): string {
  const said = err === '' ? '' : `--- stderr\n${err}`
  return `=== ${title}: exit ${code}\n${visible(out)}${visible(said)}`
}

const COLOURS: ReadonlyMap<string, string> = new Map(
  Object.entries({ 1: 'bold', 2: 'dim', 31: 'red', 32: 'green', 33: 'yellow' }),
)

function visible(text: string): string {
  const [start = '', ...rest] = text.split('\u001B[')
  const parts = rest.map((part) => {
    const end = part.indexOf('m')
    const name = COLOURS.get(part.slice(0, end)) ?? '/'
    return `<${name}>${part.slice(end + 1)}`
  })
  return [start, ...parts].join('')
}
