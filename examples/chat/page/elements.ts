/** @throws {Error} for a page without it. */
export function find<T extends Element>(selector: string, type: new () => T): T {
  const element = document.querySelector(selector)
  if (!(element instanceof type)) throw new Error(`the page has no ${selector}`)
  return element
}

/** Text only: what a model, a tool or a user wrote is never markup. */
export function make<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  properties: Partial<Pick<HTMLElementTagNameMap[T], 'className' | 'textContent' | 'id'>> = {},
  ...children: readonly Node[]
): HTMLElementTagNameMap[T] {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

export function makeButton(text: string, onClick: () => void, className = ''): HTMLButtonElement {
  const button = make('button', { textContent: text, className })
  button.type = 'button'
  button.addEventListener('click', onClick)
  return button
}
