/** The URL of a worker's file in the build. */
declare module '*?worker&url' {
  const address: string;
  export default address;
}
