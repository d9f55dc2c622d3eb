/** Exports of a run: a page for a bug report, and a test case once it has ended. */
export function RunExports({ id, hasEnded }: { readonly id: string; readonly hasEnded: boolean }) {
  const address = `/v1/runs/${encodeURIComponent(id)}`;
  return (
    <>
      <a class="button" href={`${address}/report`} download title="One HTML file, to attach to a bug report">
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
