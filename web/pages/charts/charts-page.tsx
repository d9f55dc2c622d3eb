/** Charts. */
export function ChartsPage() {
  return <h1>Charts</h1>;
}
