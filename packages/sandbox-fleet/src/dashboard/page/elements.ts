// The page is built of text and elements only: nothing a sandbox says is ever read as markup.

/** The element of the page with this id. */
export function byId<E extends Element>(id: string, type: new () => E): E {
  const found = document.getElementById(id)
  if (found instanceof type) return found
  throw new Error(`the page has no ${type.name} #${id}`)
}

export type Child = Node | string | undefined

/** Makes an element of HTML; attributes that are undefined are left out. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string | undefined>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name)
  setAttributes(made, attributes)
  made.append(...children.filter((child) => child !== undefined))
  return made
}

/** Makes an element of SVG. */
export function shape(
  name: 'svg' | 'rect' | 'line' | 'text' | 'title',
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: readonly (Node | string)[]
): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name)
  setAttributes(
    made,
    Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, String(value)])),
  )
  made.append(...children)
  return made
}

function setAttributes(
  target: Element,
  attributes: Readonly<Record<string, string | undefined>>,
): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) target.setAttribute(name, value)
  }
}
