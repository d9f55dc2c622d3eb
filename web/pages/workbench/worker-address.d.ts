/** The address of a worker's own file, as the build hands it out. */
declare module '*?worker&url' {
  const address: string;
  export default address;
}
