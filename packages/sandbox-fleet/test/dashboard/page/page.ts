// The page in a document without a browser, beside the real HTTP API.
import { Window } from 'happy-dom'
import { vi } from 'vitest'
import { DASHBOARD_PAGE } from '../../../src/dashboard/assets.ts'
import { byId } from '../../../src/dashboard/page/elements.ts'
import { type Harness, setup } from '../../http/harness.ts'

/** What the page takes from its browser. */
const GLOBALS = [
  'document',
  'sessionStorage',
  'Element',
  'Event',
  'HTMLElement',
  'HTMLButtonElement',
  'HTMLDialogElement',
  'HTMLFormElement',
  'HTMLInputElement',
  'HTMLSelectElement',
  'HTMLTableRowElement',
  'HTMLTableSectionElement',
] as const

const ADDRESS = 'http://fleet.test/fleet/'

/** A new document with the elements of the page, as globals of the test. */
export function openDocument(): void {
  const window = new Window({
    url: ADDRESS,
    settings: { disableCSSFileLoading: true, disableJavaScriptFileLoading: true },
  })
  window.document.write(DASHBOARD_PAGE)
  for (const name of GLOBALS) vi.stubGlobal(name, window[name])
}

export const find = (id: string): HTMLElement => byId(id, HTMLElement)
export const textOf = (id: string): string => find(id).textContent
export const isHidden = (id: string): boolean => find(id).hidden !== false
export const isOpen = (id: string): boolean => byId(id, HTMLDialogElement).open
export const click = (id: string): void => find(id).click()

/** Types into a field. */
export function type(id: string, text: string): void {
  const field = byId(id, HTMLInputElement)
  field.value = text
  field.dispatchEvent(new Event('input'))
}

/** Presses a button of a row. */
export function clickOf(label: string): void {
  document.querySelector<HTMLElement>(`[aria-label="${label}"]`)?.click()
}

/** Answers a request of the page before the API does; `undefined` leaves it to the API. */
export type Answer = (url: URL, method: string) => Promise<Response> | Response | undefined

/** The page with its script, which has run as in a tab with `token` left in it. */
export class OpenPage {
  readonly harness: Harness = setup()
  /** Each request: its method, and its address below that of the API. */
  readonly requests: string[] = []
  answer: Answer = () => undefined
  #pending = 0
  static #loads = 0

  /** Runs the script of the page. */
  async load(token?: string): Promise<void> {
    openDocument()
    if (token !== undefined) sessionStorage.setItem('helix-fleet-token', token)
    vi.useFakeTimers({ toFake: ['setInterval', 'Date'], now: this.harness.clock.now() })
    vi.stubGlobal('fetch', (url: URL, init: RequestInit) => this.#fetch(url, init))
    OpenPage.#loads += 1
    // Each page runs the script anew.
    const script = `../../../src/dashboard/page/main.ts?load=${OpenPage.#loads}`
    await (import(script) as Promise<typeof import('../../../src/dashboard/page/main.ts')>)
    await this.settle()
  }

  /** Lets time pass for the page and for the fleet, until all is answered and shown. */
  async pass(ms: number): Promise<void> {
    await this.harness.clock.advance(ms)
    vi.advanceTimersByTime(ms)
    await this.settle()
  }

  /** Lets the page work on what it has, whether its requests are answered or not. */
  async work(): Promise<void> {
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
  }

  /** Waits until everything that the page has asked is answered and shown. */
  async settle(): Promise<void> {
    do await this.work()
    while (this.#pending > 0)
  }

  async #fetch(url: URL, init: RequestInit): Promise<Response> {
    const method = init.method ?? 'GET'
    this.requests.push(`${method} ${url.href.replace(`${ADDRESS}api/sandbox/`, '')}`)
    this.#pending += 1
    try {
      const path = url.href.replace('/fleet/', '/')
      const { signal: _signal, cache: _cache, ...rest } = init
      return await (this.answer(url, method) ?? this.harness.app.request(path, rest))
    } finally {
      this.#pending -= 1
    }
  }
}
