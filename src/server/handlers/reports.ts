import { omitUndefined } from '../../base/index.js';
import { VERSION } from '../../base/files/index.js';
import type { OrderStore, RunStore } from '../../store/ports/index.js';
import type { RunReport } from '../report/index.js';
import { gatherReport, renderHtml } from '../report/index.js';
import type { RunRecord } from '../../store/records/index.js';
import type { RunFolder } from '../../runs/run-folder/index.js';
import { makeRunCase, makeTextCase } from '../suite/index.js';
import type { NewCase } from '../suite/index.js';
import { tarFiles } from '../export/tar-files.js';
import { streamBody } from '../export/stream-body.js';
import { findRunFiles, createFilesMissingError } from '../files/run-files.js';
import type { Handlers } from '../http/request-checks.js';
import type { ServerContext } from '../server-context.js';
import { findRun } from './run-view.js';

/** Creates the handlers that export a run as an HTML report, and runs and parse inputs as suite cases. */
export function createReportHandlers(
  context: ServerContext,
): Pick<Handlers, 'reportRun' | 'exportRunCase' | 'exportTextCase'> {
  const { store, secrets, wrappers, clock } = context;
  const openFolder = async (record: RunRecord): Promise<RunFolder> => {
    const runFiles = await findRunFiles(context, record);
    if (runFiles === undefined) throw createFilesMissingError(record);
    return runFiles.folder;
  };
  return {
    async reportRun({ params }) {
      const record = await findRun(store, params.id);
      const { id } = record;
      const source = { openFolder: async () => openFolder(record), mask: (bytes: Uint8Array) => secrets.mask(bytes) };
      const report = await gatherReport(source, await readReportRecords(store, id));
      const html = renderHtml(report, { version: VERSION, maskText: (text) => secrets.maskText(text) });
      return createDownload(Buffer.from(html), 'text/html; charset=utf-8', `${id}.html`);
    },
    async exportRunCase({ params }) {
      const record = await findRun(store, params.id);
      const folder = await openFolder(record);
      return createCaseDownload(await makeRunCase({ record, folder, store, wrappers, secrets, clock }));
    },
    async exportTextCase({ body }) {
      const { text, name, schema, profile, allow_partial, align } = body;
      const contract = omitUndefined({ schema, profile, allow_partial, align });
      return createCaseDownload(await makeTextCase({ text, name, contract, secrets, clock }));
    },
  };
}

/** Sends a case as an archive to be unpacked in the suite's folder. */
function createCaseDownload({ name, files }: NewCase): Response {
  const entries = files.map(({ path, bytes }) => ({ path: `${name}/${path}`, bytes }));
  const headers = {
    'content-type': 'application/x-tar',
    'content-disposition': `attachment; filename="${name}.tar"`,
  };
  return new Response(streamBody(tarFiles(entries)), { headers });
}

function createDownload(bytes: Uint8Array<ArrayBuffer>, type: string, name: string): Response {
  return new Response(bytes, {
    headers: { 'content-type': type, 'content-disposition': `attachment; filename="${name}"` },
  });
}

/** Loads the records for a run's report: the run, its order and its inbox items. */
export async function readReportRecords(
  store: Pick<RunStore, 'findRun'> & Pick<OrderStore, 'findOrder' | 'listInbox'>,
  id: string,
): Promise<Pick<RunReport, 'id' | 'record' | 'order' | 'items'>> {
  const record = await store.findRun(id);
  const orderRef = record?.order ?? null;
  if (orderRef === null) return { id, record, items: [] };
  const order = await store.findOrder(orderRef.issue_ref, orderRef.run_id);
  const { items } = await store.listInbox({ issueRef: orderRef.issue_ref, order: 'newest', limit: 100 });
  return { id, record, order, items: items.filter(({ run }) => run === id) };
}
