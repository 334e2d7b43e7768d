// Prints what the docs say of an error code: `pnpm explain not-found`.
import { explain } from './explain.ts'

const [code] = process.argv.slice(2)
if (code === undefined) {
  console.error('usage: pnpm explain <error-code>')
  process.exitCode = 2
} else {
  const { isKnown, text } = explain(code)
  if (isKnown) console.log(text)
  else console.error(text)
  process.exitCode = isKnown ? 0 : 1
}
