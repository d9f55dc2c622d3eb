/** The text of a file; the build of the site includes it. */
declare module '*?raw' {
  const text: string;
  export default text;
}
