// The dashboard. Polls the HTTP API beside it, and does nothing that the API does not check.
import type { WireSandbox, WireStats } from '../../http/wire.ts'
import { activityBars, ageBars, type Bars } from './bars.ts'
import { drawBars } from './charts.ts'
import { confirm, planBody, showDetail } from './dialogs.ts'
import { byId, element } from './elements.ts'
import { severityOf } from './facts.ts'
import { FleetClient, RequestFailed } from './fleet-client.ts'
import { formatPercent, formatWhen } from './format.ts'
import { sentenceOfPass } from './outcome.ts'
import { SandboxTable } from './table.ts'

const POLL_MS = 5_000
const TOKEN_KEY = 'helix-fleet-token'
const ACTIVE_PAGES = 10
/** Of those that are gone, enough for the chart. */
const ENDED_PAGES = 2

/** Parts of the page, beside the table, that show sandboxes. */
const SHOWING = [
  'summary',
  'activity',
  'activity-caption',
  'ages',
  'ages-caption',
  'freshness',
  'plan-title',
  'plan-body',
  'detail-title',
  'detail-body',
]

let client: FleetClient | undefined
let isPaused = false
let isPolling = false
/** Something has changed since the poll that is under way began: its answer may be old. */
let isStale = false
let refreshedAt: number | undefined
/** An action is under way, from its question to its result: there is one at a time. */
let isActing = false

const table = new SandboxTable({
  onShow: (id) => void guarded((api) => showDetail(api, id, () => client !== api)),
  onTerminate: (sandbox) => void act((api) => terminate(api, sandbox)),
})

function signIn(token: string): void {
  sessionStorage.setItem(TOKEN_KEY, token)
  client = new FleetClient(token, document.baseURI)
  showSignedIn(true)
  void refresh()
}

function signOut(message?: string): void {
  sessionStorage.removeItem(TOKEN_KEY)
  client = undefined
  refreshedAt = undefined
  isActing = false
  showSignedIn(false)
  // Nothing of it stays on the page.
  for (const id of ['plan', 'detail']) byId(id, HTMLDialogElement).close()
  for (const id of SHOWING) byId(id, HTMLElement).replaceChildren()
  table.show([])
  announce('')
  say(message)
  byId('token', HTMLInputElement).focus()
}

function showSignedIn(isSignedIn: boolean): void {
  byId('sign-in', HTMLElement).hidden = isSignedIn
  for (const id of ['fleet', 'pause', 'sign-out']) byId(id, HTMLElement).hidden = !isSignedIn
}

async function refresh(): Promise<void> {
  isStale = true
  if (isPolling) return
  isPolling = true
  while (isStale) {
    isStale = false
    await poll()
  }
  isPolling = false
  showFreshness()
}

function poll(): Promise<void> {
  return guarded(async (api) => {
    const [stats, active, ended] = await Promise.all([
      api.stats(),
      api.list({ status: 'active' }, ACTIVE_PAGES),
      api.list({ status: 'terminated' }, ENDED_PAGES),
    ])
    if (client !== api) return
    refreshedAt = Date.now()
    sayOfServer(active.isComplete ? undefined : 'There are more sandboxes than this page can list.')
    show(stats, unique([...active.sandboxes, ...ended.sandboxes]))
  }, sayOfServer)
}

/** One that ended between the two lists is in both. */
function unique(sandboxes: readonly WireSandbox[]): readonly WireSandbox[] {
  return [...new Map(sandboxes.map((sandbox) => [sandbox.id, sandbox])).values()]
}

function show(stats: WireStats, sandboxes: readonly WireSandbox[]): void {
  const environment = byId('environment', HTMLElement)
  environment.textContent = stats.environment
  environment.hidden = false
  const nowMs = Date.parse(stats.time)
  const facts: readonly (readonly [string, string | number])[] = [
    ['Active', stats.active],
    ['Capacity used', `${formatPercent(stats.usage)} of ${stats.max_concurrent}`],
    ['Provisioning', stats.provisioning],
    ['Terminating', stats.terminating],
    ['Detached', stats.detached],
    ['Failed', stats.failed],
    ['Need attention', sandboxes.filter((sandbox) => severityOf(sandbox) > 0).length],
    ['Created', stats.total_created],
    ['Destroyed', stats.total_destroyed],
    ['Last cleanup', formatWhen(stats.last_cleanup_at, nowMs)],
  ]
  byId('summary', HTMLElement).replaceChildren(
    ...facts.map(([name, value]) =>
      element('div', {}, element('dt', {}, name), element('dd', {}, String(value))),
    ),
  )
  draw('activity', activityBars(sandboxes, nowMs))
  draw('ages', ageBars(sandboxes))
  table.show(sandboxes)
}

function draw(id: string, bars: Bars): void {
  byId(id, HTMLElement).replaceChildren(drawBars(bars))
  byId(`${id}-caption`, HTMLElement).textContent = bars.caption
}

async function terminate(api: FleetClient, sandbox: WireSandbox): Promise<void> {
  const isSure = await confirm({
    title: `Terminate ${sandbox.id}?`,
    body: [element('p', {}, 'Its processes end and its disk is lost. This cannot be undone.')],
    apply: 'Terminate',
  })
  if (!isSure) return
  const { outcome } = await api.terminate(sandbox)
  announce(`${sandbox.id}: ${outcome}.`)
  await refresh()
}

/** Plans first, shows the plan, and applies it when the person says so. */
async function runPass(
  pass: 'cleanup' | 'cleanup/emergency' | 'reconcile',
  question: { readonly title: string; readonly apply: string; readonly word?: string },
): Promise<void> {
  await act(async (api) => {
    const plan = await api.run(pass, true)
    if (client !== api) return
    const isSure = await confirm({ ...question, body: planBody(plan) })
    if (!isSure) return
    announce(sentenceOfPass(await api.run(pass, false)))
    await refresh()
  })
}

/** What changes something: one at a time, since its question and its plan must stay as they are. */
async function act(work: (api: FleetClient) => Promise<void>): Promise<void> {
  if (isActing) {
    announce('Another action is under way.')
    return
  }
  isActing = true
  say(undefined)
  await guarded(work)
  isActing = false
}

async function guarded(
  work: (api: FleetClient) => Promise<void>,
  report: (message: string) => void = say,
): Promise<void> {
  const api = client
  if (api === undefined) return
  try {
    await work(api)
  } catch (error) {
    // The operator has signed out since the request.
    if (client !== api) return
    const isRejected = error instanceof RequestFailed && [401, 403].includes(error.status)
    if (isRejected) signOut('The server rejected the token.')
    else report(error instanceof Error ? error.message : String(error))
  }
}

/** What went wrong with an action: it stays until the next one. */
function say(message: string | undefined): void {
  fill('alert', message)
}

/** How the server answers: it goes when the server does again. */
function sayOfServer(message: string | undefined): void {
  fill('server-alert', message)
}

function fill(id: string, message: string | undefined): void {
  const alert = byId(id, HTMLElement)
  // The same text again would be read aloud again.
  if (alert.textContent !== (message ?? '')) alert.textContent = message ?? ''
  alert.hidden = message === undefined
}

function announce(message: string): void {
  byId('announcement', HTMLElement).textContent = message
}

function showFreshness(): void {
  const age = refreshedAt === undefined ? undefined : Math.round((Date.now() - refreshedAt) / 1000)
  byId('freshness', HTMLElement).textContent =
    age === undefined ? '' : `Updated ${age} s ago${isPaused ? ', paused' : ''}`
}

byId('sign-in', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault()
  const input = byId('token', HTMLInputElement)
  const token = input.value.trim()
  input.value = ''
  say(undefined)
  signIn(token)
})
byId('sign-out', HTMLElement).addEventListener('click', () => signOut())
byId('detail-close', HTMLElement).addEventListener('click', () => {
  byId('detail', HTMLDialogElement).close()
})
byId('pause', HTMLElement).addEventListener('click', (event) => {
  isPaused = !isPaused
  if (event.currentTarget instanceof Element) {
    event.currentTarget.setAttribute('aria-pressed', String(isPaused))
  }
  showFreshness()
})
byId('cleanup', HTMLElement).addEventListener('click', () => {
  void runPass('cleanup', { title: 'Clean up stuck and leaked sandboxes?', apply: 'Clean up' })
})
byId('reconcile', HTMLElement).addEventListener('click', () => {
  void runPass('reconcile', {
    title: 'Bring the ledger in line with the providers?',
    apply: 'Reconcile',
  })
})
byId('emergency', HTMLElement).addEventListener('click', () => {
  void runPass('cleanup/emergency', {
    title: 'Terminate every sandbox that is not critical?',
    apply: 'Terminate all',
    word: 'terminate all',
  })
})

setInterval(() => {
  showFreshness()
  const isDue = !isPolling && Date.now() - (refreshedAt ?? 0) >= POLL_MS
  if (isDue && !isPaused && !document.hidden) void refresh()
}, 1_000)

const stored = sessionStorage.getItem(TOKEN_KEY)
if (stored === null) signOut()
else signIn(stored)
