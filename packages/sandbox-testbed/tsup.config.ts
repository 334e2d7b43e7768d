import { definePackage } from '../../scripts/tsup.ts'

export default definePackage({
  // The container server is one file that needs nothing else: a container sees only that file.
  entry: { index: 'src/index.ts', 'server/main': 'src/server/main.ts' },
  splitting: false,
  noExternal: ['ws', 'capnweb'],
  platform: 'node',
  target: 'node22',
  // Of the bundled packages, some ask for modules of Node by `require`.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
})
