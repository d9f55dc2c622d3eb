/** The address of a worker's own file, as the build names it. */
declare module '*?worker&url' {
  const address: string;
  export default address;
}
