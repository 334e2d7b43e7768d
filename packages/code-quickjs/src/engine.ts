import type { CodeEngine } from '@helix-agents/core/provider'
import type { QuickJsSettings } from './options.ts'
import { QuickJsInterpreter } from './quickjs-interpreter.ts'
import type { OpenSeat } from './seat/seat.ts'

const TOOL_NOTE =
  'Code runs in QuickJS: standard JavaScript (ES2023) and TypeScript without type checks, with await at the top level. ' +
  'Files of the workspace: await fs.readFile(path, "utf8"), fs.writeFile, fs.readdir and others of node:fs/promises. ' +
  'Not there: npm packages, network, processes, timers, other modules of Node. ' +
  'display({ png: base64 }) shows a picture.'

/** @param openSeat Where the code runs on this platform. */
export function createEngine(settings: QuickJsSettings, openSeat: OpenSeat): CodeEngine {
  return {
    name: 'quickjs',
    toolNote: TOOL_NOTE,
    open: (host) => new QuickJsInterpreter(host, settings, openSeat),
  }
}
