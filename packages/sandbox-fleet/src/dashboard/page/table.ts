import type { WireSandbox } from '../../http/wire.ts'
import { type Column, COLUMNS } from './columns.ts'
import { byId, element } from './elements.ts'
import { severityName } from './facts.ts'
import { compareSandboxes, isSelected, type Selection } from './selection.ts'

export interface TableEvents {
  onShow(id: string): void
  onTerminate(sandbox: WireSandbox): void
}

const MAX_ROWS = 500

/** The live table. Rows are kept by id, so that focus stays where it was when data changes. */
export class SandboxTable {
  readonly #events: TableEvents
  readonly #rows = new Map<string, HTMLTableRowElement>()
  #sandboxes: readonly WireSandbox[] = []
  #sortedBy: Column | undefined
  #descending = true

  constructor(events: TableEvents) {
    this.#events = events
    const heads = COLUMNS.map((column) => this.#head(column))
    byId('columns', HTMLTableRowElement).replaceChildren(
      ...heads,
      element('th', { scope: 'col' }, 'Actions'),
    )
    const statuses = ['active', 'provisioning', 'running', 'terminating', 'failed', 'all']
    const options = statuses.map((status) => element('option', { value: status }, status))
    byId('status-filter', HTMLSelectElement).replaceChildren(...options)
    for (const id of ['status-filter', 'search', 'attention']) {
      byId(id, HTMLElement).addEventListener('input', () => this.#render())
    }
  }

  show(sandboxes: readonly WireSandbox[]): void {
    this.#sandboxes = sandboxes
    this.#render()
  }

  #head(column: Column): HTMLElement {
    const button = element('button', { type: 'button' }, column.title)
    const head = element('th', { scope: 'col', 'data-column': column.id }, button)
    button.addEventListener('click', () => {
      this.#descending = this.#sortedBy === column ? !this.#descending : true
      this.#sortedBy = column
      this.#render()
    })
    return head
  }

  #render(): void {
    const selection = selectionOfPage()
    const chosen = this.#sandboxes.filter((sandbox) => isSelected(sandbox, selection))
    const column = this.#sortedBy
    const sorting = column && { sortBy: column.sortBy, descending: this.#descending }
    const sorted = chosen.toSorted((a, b) => compareSandboxes(a, b, sorting)).slice(0, MAX_ROWS)
    this.#markSorted()
    const caption = `${chosen.length} of ${this.#sandboxes.length} sandboxes`
    const cut = chosen.length > MAX_ROWS ? `, the first ${MAX_ROWS} are shown` : ''
    byId('table-caption', HTMLElement).textContent = caption + cut
    this.#place(sorted.map((sandbox) => this.#row(sandbox)))
    this.#forget()
  }

  /** A row that is moved loses its focus: what goes is removed first, and only the others move. */
  #place(rows: readonly HTMLTableRowElement[]): void {
    const body = byId('rows', HTMLTableSectionElement)
    const shown = new Set<Element>(rows)
    for (const row of Array.from(body.children)) if (!shown.has(row)) row.remove()
    let next = body.firstElementChild
    for (const row of rows) {
      if (row === next) next = row.nextElementSibling
      else body.insertBefore(row, next)
    }
  }

  #row(sandbox: WireSandbox): HTMLTableRowElement {
    const row = this.#rows.get(sandbox.id) ?? this.#newRow(sandbox)
    row.dataset.severity = severityName(sandbox)
    for (const [index, column] of COLUMNS.entries()) {
      row.cells[index]?.replaceChildren(...column.cell(sandbox))
    }
    const terminate = row.querySelector<HTMLButtonElement>('.terminate')
    if (terminate !== null) terminate.disabled = sandbox.status === 'terminated'
    return row
  }

  #newRow({ id }: WireSandbox): HTMLTableRowElement {
    const show = element('button', { type: 'button', 'aria-label': `Details of ${id}` }, 'Details')
    show.addEventListener('click', () => this.#events.onShow(id))
    const attributes = {
      type: 'button',
      class: 'danger terminate',
      'aria-label': `Terminate ${id}`,
    }
    const end = element('button', attributes, 'Terminate…')
    end.addEventListener('click', () => {
      const sandbox = this.#sandboxes.find((candidate) => candidate.id === id)
      if (sandbox !== undefined) this.#events.onTerminate(sandbox)
    })
    const cells = COLUMNS.map(({ title }) => element('td', { 'data-label': title }))
    const row = element('tr', { 'data-id': id }, ...cells, element('td', {}, show, ' ', end))
    this.#rows.set(id, row)
    return row
  }

  #markSorted(): void {
    for (const head of byId('columns', HTMLTableRowElement).cells) {
      if (head.dataset.column === undefined) continue
      const isSorted = head.dataset.column === this.#sortedBy?.id
      const direction = this.#descending ? 'descending' : 'ascending'
      head.setAttribute('aria-sort', isSorted ? direction : 'none')
    }
  }

  /** Rows of sandboxes that are no longer listed. */
  #forget(): void {
    const known = new Set(this.#sandboxes.map((sandbox) => sandbox.id))
    for (const id of this.#rows.keys()) if (!known.has(id)) this.#rows.delete(id)
  }
}

function selectionOfPage(): Selection {
  return {
    status: byId('status-filter', HTMLSelectElement).value,
    search: byId('search', HTMLInputElement).value,
    onlyAttention: byId('attention', HTMLInputElement).checked,
  }
}
