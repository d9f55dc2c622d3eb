import { SafeText } from '../../ui/safe-text.js';
import { ArtifactPreview } from './artifact-preview.js';

/** More files than this are in the export. */
const MOST_FILES = 100;

/** The files a run made, changed and deleted; those that are there can be looked at. */
export function ChangedFiles({
  runId,
  artifacts,
}: {
  readonly runId: string;
  readonly artifacts: Readonly<Record<string, unknown>>;
}) {
  const files = (['created', 'modified', 'deleted'] as const).flatMap((change) =>
    pathsOf(artifacts[change]).map((path) => ({ change, path })),
  );
  if (files.length === 0) return null;
  return (
    <section>
      <h2>Files</h2>
      <ul class="plain">
        {files.slice(0, MOST_FILES).map(({ change, path }) => (
          <li key={`${change} ${path}`}>
            {change === 'deleted' ? (
              <span class="row">
                <span class="dim">deleted</span>
                <code>
                  <SafeText text={path} limit={400} />
                </code>
              </span>
            ) : (
              <ArtifactPreview runId={runId} path={path} note={change} />
            )}
          </li>
        ))}
      </ul>
      {files.length > MOST_FILES ? <p class="dim">and {files.length - MOST_FILES} more</p> : null}
    </section>
  );
}

function pathsOf(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((path) => typeof path === 'string') : [];
}
