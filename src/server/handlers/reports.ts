import { omitUndefined } from '../../base/index.js';
import { VERSION } from '../../files/index.js';
import type { OrderStore } from '../../orders/index.js';
import type { RunReport } from '../../report/index.js';
import { gatherReport, renderHtml } from '../../report/index.js';
import type { RunRecord } from '../../records/index.js';
import type { RunFolder } from '../../run-folder/index.js';
import type { RunStore } from '../../runs/index.js';
import { makeRunCase, makeTextCase } from '../../suite/index.js';
import type { MadeCase } from '../../suite/index.js';
import { tarFiles } from '../export/tar-files.js';
import { streamBody } from '../export/stream-body.js';
import { findRunFiles, notHere } from '../files/run-files.js';
import type { Handlers } from '../http/request-checks.js';
import type { ServerContext } from '../server-context.js';
import { findRun } from './find-run.js';

/** A run as one HTML file, and runs and texts as cases of a suite. */
export function createReportHandlers(
  context: ServerContext,
): Pick<Handlers, 'reportRun' | 'exportRunCase' | 'exportTextCase'> {
  const { store, secrets, wrappers, clock } = context;
  const open = async (record: RunRecord): Promise<RunFolder> => {
    const found = await findRunFiles(context, record);
    if (found === undefined) throw notHere(record);
    return found.folder;
  };
  return {
    async reportRun({ params }) {
      const record = await findRun(store, params.id);
      const { id } = record;
      const report = await gatherReport(async () => open(record), await findReported(store, id));
      const html = renderHtml(report, { version: VERSION, maskText: (text) => secrets.maskText(text) });
      return download(Buffer.from(html), 'text/html; charset=utf-8', `${id}.html`);
    },
    async exportRunCase({ params }) {
      const record = await findRun(store, params.id);
      const folder = await open(record);
      return downloadCase(await makeRunCase({ record, folder, store, wrappers, secrets, clock }));
    },
    async exportTextCase({ body }) {
      const { text, name, schema, profile, allow_partial, align } = body;
      const contract = omitUndefined({ schema, profile, allow_partial, align });
      return downloadCase(await makeTextCase({ text, name, contract, secrets, clock }));
    },
  };
}

/** A case as an archive; to be unpacked in the folder of the suite. */
function downloadCase({ name, files }: MadeCase): Response {
  const entries = files.map(({ path, bytes }) => ({ path: `${name}/${path}`, bytes }));
  const headers = {
    'content-type': 'application/x-tar',
    'content-disposition': `attachment; filename="${name}.tar"`,
  };
  return new Response(streamBody(tarFiles(entries)), { headers });
}

function download(bytes: Uint8Array<ArrayBuffer>, type: string, name: string): Response {
  return new Response(bytes, {
    headers: { 'content-type': type, 'content-disposition': `attachment; filename="${name}"` },
  });
}

/** Reads what the store knows about a run. */
export async function findReported(
  store: Pick<RunStore, 'findRun'> & Pick<OrderStore, 'findOrder' | 'listInbox'>,
  id: string,
): Promise<Pick<RunReport, 'id' | 'record' | 'order' | 'items'>> {
  const record = await store.findRun(id);
  const named = record?.order ?? null;
  if (named === null) return { id, record, items: [] };
  const order = await store.findOrder(named.issue_ref, named.run_id);
  const { items } = await store.listInbox({ issueRef: named.issue_ref, order: 'newest', limit: 100 });
  return { id, record, order, items: items.filter(({ run }) => run === id) };
}
