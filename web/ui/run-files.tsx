import { t } from '../app/texts.js';

/** Links to a run's exports: a report and, once the run has ended, a test case. */
export function RunExports({ id, hasEnded }: Readonly<{ id: string; hasEnded: boolean }>) {
  const address = `/v1/runs/${encodeURIComponent(id)}`;
  return (
    <>
      <a class="button" href={`${address}/report`} download title={t.downloadOneHtmlFileTo}>
        {t.report}
      </a>
      {hasEnded ? (
        <a class="button" href={`${address}/case`} download title={t.downloadATarToUnpack}>
          {t.testCase}
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
  if (source !== null) return t.theRunProducedNoFiles;
  return t.filesNotHere(host);
}
