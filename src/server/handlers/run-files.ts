import { runFolderPath } from '../../run-folder/index.js';
import { openForReading } from '../../files/index.js';
import { answerFile } from '../files/answer-file.js';
import { artifactsOf } from '../files/artifacts.js';
import { listEvidence } from '../files/evidence.js';
import { openInside, sizeInside } from '../files/open-inside.js';
import { findRun } from '../find-run.js';
import { RequestError } from '../request-error.js';
import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';

/** Longer lists and texts are for those who take the folder away: they are no preview. */
const MOST_ARTIFACTS = 1000;
const MOST_BYTES = 1024 * 1024;
const PREVIEW = { type: 'text/plain; charset=utf-8', most: MOST_BYTES } as const;

type FileHandlers = Pick<Handlers, 'listRunFiles' | 'readEvidence' | 'readArtifact'>;

/** What a run left behind, for people to look at. */
export function createRunFileHandlers({ store, data }: ServerContext): FileHandlers {
  return {
    async listRunFiles({ params }) {
      const record = await findRun(store, params.id);
      const folder = runFolderPath(data, record.id);
      const [evidence, artifacts] = await Promise.all([listEvidence(folder), artifactsOf(record, folder)]);
      const shown = artifacts.slice(0, MOST_ARTIFACTS).map(async ({ path, change }) => ({
        path,
        change,
        size: change === 'deleted' ? null : await sizeInside(record.spec.workdir, path),
      }));
      return {
        evidence: evidence.map(({ name, size }) => ({ name, size })),
        artifacts: await Promise.all(shown),
        artifacts_left_out: Math.max(0, artifacts.length - MOST_ARTIFACTS),
      };
    },
    async readEvidence({ params, query, context, requestId }) {
      const { id } = await findRun(store, params.id);
      const evidence = await listEvidence(runFolderPath(data, id));
      const file = evidence.find(({ name }) => name === query['name']);
      const handle = file === undefined ? undefined : await openForReading(file.path).catch(() => undefined);
      if (handle === undefined) throw notFound();
      return answerFile(context, { handle, requestId, ...PREVIEW });
    },
    async readArtifact({ params, query, context, requestId }) {
      const record = await findRun(store, params.id);
      const artifacts = await artifactsOf(record, runFolderPath(data, record.id));
      const artifact = artifacts.find(({ path }) => path === query['path']);
      const handle = artifact === undefined ? undefined : await openInside(record.spec.workdir, artifact.path);
      if (handle === undefined) throw notFound();
      return answerFile(context, { handle, requestId, ...PREVIEW });
    },
  };
}

/** The name is not repeated: it may be anything. */
function notFound(): RequestError {
  return new RequestError(
    'FILE_NOT_FOUND',
    'There is no such file of this run on this machine, or no longer. GET /v1/runs/{id}/files lists them.',
  );
}
