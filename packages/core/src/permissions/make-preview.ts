import { HelixError } from '../errors/helix-error.ts'
import { toToolError } from '../errors/to-tool-error.ts'
import { redactText } from '../redaction/redact-text.ts'
import type { RequestPreview } from '../state/session-requests.ts'
import { cutEnd } from '../tools/result-budget.ts'
import type { PreviewedCall, PreviewLimits } from './previewed-call.ts'
import type { ModulePreview, PreviewBasis } from './module-preview.ts'
import type { CallAccess } from './tool-permission.ts'
import { visibleLine, visibleText, visibleWords } from './visible-text.ts'

const DEFAULTS: Required<PreviewLimits> = {
  bodyCharacters: 20_000,
  titleCharacters: 200,
  timeMs: 10_000,
}
/** Characters of arguments that are laid out as JSON. */
const MAX_LAID_OUT = 50_000
/** Before a text is made visible, which may make it longer. */
const MAX_TITLE = 2000

/** See `previewCall`. */
export async function makePreview(
  call: PreviewedCall,
  limits: PreviewLimits = {},
): Promise<RequestPreview> {
  const { timeMs, bodyCharacters, titleCharacters } = { ...DEFAULTS, ...limits }
  const { made, basis } = await withinTime(call, timeMs)
  const line = visibleLine(redactText(made.title.slice(0, MAX_TITLE)))
  const title = cutLine(line, titleCharacters)
  const text = title === line ? made.body : withTitle(made)
  return {
    title,
    ...(text !== undefined && showBody({ ...made, body: text }, bodyCharacters)),
    ...(basis !== undefined && { basis }),
  }
}

/** A title that is cut is whole in the body. */
function withTitle({ title, body, format = 'text' }: ModulePreview): string {
  if (body === undefined) return title
  return format === 'text' && !body.includes(title) ? `${title}\n\n${body}` : body
}

function showBody(
  made: ModulePreview & { readonly body: string },
  maxCharacters: number,
): Pick<RequestPreview, 'body' | 'format' | 'truncated'> {
  const { body: text, format = 'text' } = made
  const shown = redactText(text)
  const visible = format === 'text' ? visibleWords(shown) : visibleText(shown)
  const body = cutEnd(visible, maxCharacters)
  const isCut = made.truncated === true || body.length < visible.length
  return { body, format, ...((isCut || text.length > MAX_REDACTED) && { truncated: true }) }
}

/** `redactText` leaves out what is behind. */
const MAX_REDACTED = 32_768

interface Made {
  readonly made: ModulePreview
  readonly basis?: PreviewBasis | undefined
}

async function withinTime(call: PreviewedCall, timeMs: number): Promise<Made> {
  const { access } = call
  access.abortSignal.throwIfAborted()
  const stop = new AbortController()
  const end = Promise.withResolvers<Made>()
  const cancelTimer = access.workspaces.clock.setTimer(timeMs, () => {
    end.resolve({ made: argumentsPreview(call, 'its preview took too long') })
    stop.abort()
  })
  const onAbort = (): void => end.reject(access.abortSignal.reason)
  access.abortSignal.addEventListener('abort', onAbort)
  try {
    const abortSignal = AbortSignal.any([access.abortSignal, stop.signal])
    return await Promise.race([make(call, withSignal(access, abortSignal)), end.promise])
  } finally {
    cancelTimer()
    access.abortSignal.removeEventListener('abort', onAbort)
  }
}

function withSignal(access: CallAccess, abortSignal: AbortSignal): CallAccess {
  const { sessionId, agentType, workspaces } = access
  return { sessionId, agentType, workspaces, abortSignal }
}

/** The basis comes first: what changes between the two makes it void, not the preview wrong. */
async function make(call: PreviewedCall, access: CallAccess): Promise<Made> {
  const { permission } = call.tool
  if (permission === undefined) return { made: argumentsPreview(call) }
  try {
    const basis = await permission.basis(call.input, access)
    return { made: await previewOf(call, access), basis }
  } catch (error) {
    if (!HelixError.isInstance(error)) throw error
    return { made: argumentsPreview(call, toToolError(error).message) }
  }
}

async function previewOf(call: PreviewedCall, access: CallAccess): Promise<ModulePreview> {
  try {
    return (await call.tool.permission?.preview(call.input, access)) ?? argumentsPreview(call)
  } catch (error) {
    if (!HelixError.isInstance(error)) throw error
    return argumentsPreview(call, `as things are, the call fails: ${toToolError(error).message}`)
  }
}

function argumentsPreview(call: PreviewedCall, problem?: string): ModulePreview {
  const name = nameOf(call)
  const title = problem === undefined ? name : `${name}: ${problem}`
  return { title, body: layOut(call.args), format: 'json' }
}

/** The tool, and the paths that the call names. */
function nameOf({ tool, input }: PreviewedCall): string {
  const subject = tool.permission?.subject(input)
  const { paths = [] } = subject === undefined || subject instanceof Promise ? {} : subject
  const names = paths.map(({ path }) => path)
  return [tool.permission?.facts.shortName ?? tool.name, ...names].join(' ')
}

/** The arguments as they are when they are long: laying them out takes its time. */
function layOut(args: string): string {
  if (args.length > MAX_LAID_OUT) return args
  try {
    return JSON.stringify(JSON.parse(args), null, 2)
  } catch {
    // What is no JSON is shown as it is.
    return args
  }
}

function cutLine(line: string, maxCharacters: number): string {
  return line.length <= maxCharacters ? line : `${cutEnd(line, maxCharacters - 1)}…`
}
