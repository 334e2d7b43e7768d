// Files as their bytes: esbuild, in wrangler and in the test bed, knows `type: 'bytes'`.
declare module 'ms/index.js' {
  const content: Uint8Array
  export default content
}
declare module 'ms/license.md' {
  const content: Uint8Array
  export default content
}
declare module 'ms/package.json' {
  const content: Uint8Array
  export default content
}
declare module 'ms/readme.md' {
  const content: Uint8Array
  export default content
}
