import { lstat } from 'node:fs/promises';
import { runFolderPath } from '../../run-folder/index.js';
import { tarFolder } from '../export/tar-folder.js';
import { findRun } from '../find-run.js';
import { RequestError } from '../request-error.js';
import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { streamOf } from '../stream-of.js';

/** The folder of a run, to take away. */
export function createRunExportHandlers({ store, data }: ServerContext): Pick<Handlers, 'exportRun'> {
  return {
    async exportRun({ params, context }) {
      const { id } = await findRun(store, params.id);
      const folder = runFolderPath(data, id);
      const found = await lstat(folder).catch(() => undefined);
      if (found?.isDirectory() !== true) {
        throw new RequestError(
          'RAW_NOT_FOUND',
          'The folder of this run is not on this machine: the run has not begun, or its worker is elsewhere. Ask later, or where that worker is.',
        );
      }
      const headers = {
        'content-type': 'application/x-tar',
        'content-disposition': `attachment; filename="${id}.tar"`,
      };
      return new Response(context.req.method === 'HEAD' ? null : streamOf(tarFolder(folder, id)), { headers });
    },
  };
}
