/** The few statements that behaviours need, in one language. */
export interface Snippets {
  print(text: string): string
  warn(text: string): string
  fail(message: string): string
  assign(variable: string, value: number): string
  printVariable(variable: string): string
  /** Runs until it is ended; where nothing ends it, for two minutes. */
  readonly forever: string
}

const javascript: Snippets = {
  print: (text) => `console.log(${JSON.stringify(text)})`,
  warn: (text) => `console.error(${JSON.stringify(text)})`,
  fail: (message) => `throw new Error(${JSON.stringify(message)})`,
  assign: (variable, value) => `var ${variable} = ${value}`,
  printVariable: (variable) => `console.log(String(${variable}))`,
  forever: 'const until = Date.now() + 120000; while (Date.now() < until) {}',
}

const python: Snippets = {
  print: (text) => `print(${JSON.stringify(text)}, flush=True)`,
  warn: (text) => `import sys; print(${JSON.stringify(text)}, file=sys.stderr, flush=True)`,
  fail: (message) => `raise RuntimeError(${JSON.stringify(message)})`,
  assign: (variable, value) => `${variable} = ${value}`,
  printVariable: (variable) => `print(${variable})`,
  forever: 'import time\nuntil = time.time() + 120\nwhile time.time() < until: pass',
}

/** By the name of the language. */
export const snippets: ReadonlyMap<string, Snippets> = new Map([
  ['javascript', javascript],
  ['typescript', javascript],
  ['python', python],
])
