/** The URL of the built worker file. */
declare module '*?worker&url' {
  const address: string;
  export default address;
}
