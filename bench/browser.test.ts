// The engines in a page of a real browser, over files in its memory.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'

const paths = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'chromium'))
const executablePath = [process.env.HELIX_CHROMIUM, ...paths].find(
  (path) => path !== undefined && existsSync(path),
)

const ORIGIN = 'http://localhost/'
const packages = join(import.meta.dirname, '../packages')
const ofEngine = createRequire(join(packages, 'code-quickjs/package.json'))

const PAGE = `
  import { noopLogger, systemClock } from '@helix-agents/core'
  import { justBashShell } from '@helix-agents/shell-just-bash'
  import { quickJsCode } from '@helix-agents/code-quickjs'
  import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'

  const provider = new InMemoryWorkspaceProvider({ shell: justBashShell(), code: quickJsCode() })
  const { ws } = await provider.open(
    { kind: 'in-memory' },
    { sessionId: 'one', agentType: 'tester' },
    { workspace: 'box', capabilities: {}, signal: new AbortController().signal, logger: noopLogger, clock: systemClock },
  )
  await ws.fs.writeFile('/words.txt', 'pear\\napple\\nfig\\npeach\\n')
  const text = (bytes) => new TextDecoder().decode(bytes)
  globalThis.sorted = text((await ws.shell.run('grep p words.txt | sort')).stdout)
  globalThis.bounded = (await ws.shell.run("echo a | sed ':a;s/.*/&&/;ta'", { timeoutMs: 2000 })).exitCode
  const { outputs } = await ws.code.runCode('typescript', 'const n: number = 6 * 7; n')
  globalThis.computed = outputs.find(({ type }) => type === 'result').value
  globalThis.isDone = true`

/** A page gets the interpreter as it gets in a Worker: as a module that is compiled. */
const compiledWasm: Plugin = {
  name: 'compiled-wasm',
  setup(bundler) {
    bundler.onResolve({ filter: /^#wasm\// }, () => ({ path: 'quickjs', namespace: 'wasm' }))
    bundler.onLoad({ filter: /.*/, namespace: 'wasm' }, () => {
      const bytes = readFileSync(ofEngine.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'))
      const contents = `export default await WebAssembly.compile(
        Uint8Array.from(atob('${bytes.toString('base64')}'), (byte) => byte.charCodeAt(0)))`
      return { contents, loader: 'js' }
    })
    bundler.onResolve({ filter: /^@helix-agents\/code-quickjs$/ }, () => ({
      path: join(packages, 'code-quickjs/src/workerd.ts'),
    }))
  },
}

/** just-bash imports `node:zlib` for `gzip` and its like, which a page does not have. */
const noNodeModules: Plugin = {
  name: 'no-node-modules',
  setup(bundler) {
    bundler.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: 'node' }))
    bundler.onLoad({ filter: /.*/, namespace: 'node' }, () => ({ contents: 'module.exports = {}' }))
  },
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: PAGE, resolveDir: import.meta.dirname, loader: 'js' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2024',
    conditions: ['@helix-agents/source', 'browser'],
    plugins: [compiledWasm, noNodeModules],
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

describe.skipIf(executablePath === undefined)(
  'the engines in a browser (needs chromium on PATH, or HELIX_CHROMIUM)',
  () => {
    let browser: Browser | undefined
    afterAll(() => browser?.close())

    test('a pipe, a bounded sed and TypeScript run in the page', { timeout: 120_000 }, async () => {
      const script = await bundle()
      browser = await chromium.launch({
        executablePath: executablePath ?? '',
        args: ['--no-sandbox', '--disable-gpu', '--no-first-run'],
      })
      const page = await browser.newPage()
      const problems: string[] = []
      page.on('pageerror', (error) => problems.push(String(error)))
      await page.route(`${ORIGIN}**`, (route) => {
        const isScript = route.request().url().endsWith('.js')
        return route.fulfill({
          contentType: isScript ? 'text/javascript' : 'text/html',
          body: isScript ? script : '<script type="module" src="/engines.js"></script>',
        })
      })
      await page.goto(ORIGIN)
      await expect
        .poll(async () => problems.length > 0 || (await page.evaluate('globalThis.isDone')), {
          timeout: 60_000,
        })
        .toBe(true)
      expect(problems).toEqual([])
      expect(await page.evaluate('globalThis.sorted')).toBe('apple\npeach\npear\n')
      expect(await page.evaluate('globalThis.bounded')).not.toBe(0)
      expect(String(await page.evaluate('globalThis.computed'))).toBe('42')
    })
  },
)
