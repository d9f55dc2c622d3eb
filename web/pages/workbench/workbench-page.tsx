/** Workbench. */
export function WorkbenchPage() {
  return <h1>Workbench</h1>;
}
