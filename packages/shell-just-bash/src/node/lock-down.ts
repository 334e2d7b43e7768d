/**
 * Takes from a thread what a script that reached JavaScript could leave with: code from text, the
 * process, the loader. What just-bash needs is loaded before.
 */
export function lockDown(): void {
  for (const sample of [() => {}, async () => {}, function* () {}, async function* () {}]) {
    Object.defineProperty(Object.getPrototypeOf(sample), 'constructor', { value: refuse })
  }
  for (const name of ['eval', 'Function', 'process', 'require', 'fetch', 'WebSocket', 'Worker']) {
    Object.defineProperty(globalThis, name, { value: undefined, configurable: false })
  }
}

function refuse(): never {
  throw new TypeError('code from text is off in this thread')
}
