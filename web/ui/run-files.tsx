/** Links to a run's exports: a report and, once the run has ended, a test case. */
export function RunExports({ id, hasEnded }: Readonly<{ id: string; hasEnded: boolean }>) {
  const address = `/v1/runs/${encodeURIComponent(id)}`;
  return (
    <>
      <a class="button" href={`${address}/report`} download title="Download one HTML file to attach to a bug report">
        Report
      </a>
      {hasEnded ? (
        <a
          class="button"
          href={`${address}/case`}
          download
          title="Download a .tar to unpack in your suite folder, sluice-suite"
        >
          Test case
        </a>
      ) : null}
    </>
  );
}

/** Explains why a run's file list is empty, and which host might have the files. */
export function describeMissingFiles({
  source,
  host,
}: Readonly<{ source: string | null; host?: string | undefined }>): string {
  if (source !== null) return 'The run produced no files.';
  const executed = host === undefined ? '' : ` The run was executed on "${host}".`;
  return `The files of the run are not on this host.${executed}`;
}
