import { definePackage } from '../../scripts/tsup.ts'

export default definePackage({
  entry: [
    'src/opentelemetry/index.ts',
    'src/prometheus/index.ts',
    'src/pino/index.ts',
    'src/console/index.ts',
    'src/redact/index.ts',
    'src/webhook/index.ts',
  ],
})
