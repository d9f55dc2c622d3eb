/** Explains why the list of a run's files is empty, and which machine may have them. */
export function describeMissingFiles({
  source,
  host,
}: {
  readonly source: string | null;
  readonly host?: string | undefined;
}): string {
  if (source !== null) return 'The run left no files.';
  const executed = host === undefined ? '' : ` The run was executed on "${host}".`;
  return `The files of this run are not on this machine.${executed}`;
}
