declare module '*?raw' {
  const text: string
  // oxlint-disable-next-line import/no-default-export -- that is what vite makes of it
  export default text
}
