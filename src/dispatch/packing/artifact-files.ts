import { join } from 'node:path';
import { lstat } from 'node:fs/promises';
import { openInside } from '../../files/index.js';
import type { RunRecord } from '../../records/index.js';
import { ARTIFACT_FOLDER, isArtifactPath } from '../../run-folder/index.js';
import type { RunFile } from '../../run-folder/index.js';

/** Limits for stored copies of changed files: enough to inspect them, not a copy of a project. */
const MAX_FILES = 1000;
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
/** Some file systems round times to seconds. */
const SLACK_MS = 2000;

/** Lists the files that a run created or changed, except files changed after the run ended. */
export async function* listArtifactFiles({ result, ended_at: endedAt, spec }: RunRecord): AsyncGenerator<RunFile> {
  if (result === null || endedAt === null) return;
  const until = Date.parse(endedAt) + SLACK_MS;
  let bytes = 0;
  const { created, modified } = result.artifacts;
  for (const path of [...created, ...modified].filter(isArtifactPath).slice(0, MAX_FILES)) {
    const stats = await lstat(join(spec.workdir, path)).catch(() => undefined);
    if (stats?.isFile() !== true || stats.mtimeMs > until || stats.size > MAX_FILE_BYTES) continue;
    bytes += stats.size;
    if (bytes > MAX_TOTAL_BYTES) return;
    yield {
      path: `${ARTIFACT_FOLDER}/${path.replaceAll('\\', '/')}`,
      size: stats.size,
      mtimeMs: stats.mtimeMs,
      open: async () => openInside(spec.workdir, path),
    };
  }
}
