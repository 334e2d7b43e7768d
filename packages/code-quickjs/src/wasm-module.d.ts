declare module '#wasm/quickjs.wasm' {
  const module: WebAssembly.Module
  export default module
}
