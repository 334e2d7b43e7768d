/** A file as its bytes: see `rules` in wrangler.jsonc. */
declare module '*?bytes' {
  const content: ArrayBuffer
  export default content
}
