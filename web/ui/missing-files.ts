/** Explains why a run's file list is empty, and which host might have the files. */
export function describeMissingFiles({
  source,
  host,
}: {
  readonly source: string | null;
  readonly host?: string | undefined;
}): string {
  if (source !== null) return 'The run produced no files.';
  const executed = host === undefined ? '' : ` The run was executed on "${host}".`;
  return `The files of the run are not on this host.${executed}`;
}
