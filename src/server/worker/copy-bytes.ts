import { join } from 'node:path';
import { getErrorMessage, isSluiceError, type Logger, type ReadableFile } from '../../base/index.js';
import { openForReading, readSpan } from '../../base/files/index.js';
import { listArtifactFiles } from '../../orders/dispatch/index.js';
import { RESULT_FILES } from '../../orders/index.js';
import { createSessionKeeper, type SessionKeeper, type SessionManifest } from '../../runs/archive/index.js';
import { getRunFolderPath, listAuditFiles } from '../../runs/run-folder/index.js';
import { isOutage } from '../../store/ports/index.js';
import type { RunRecord, RunResult } from '../../store/records/index.js';
import type { CallServer } from './connection.js';

interface PlainRun {
  readonly spec: RunRecord['spec'];
  readonly result: RunResult;
}

interface CopyOptions {
  readonly data: string;
  readonly call: CallServer;
  readonly logger: Logger;
}

/** How often new bytes are sent. */
const EVERY_MS = 1000;
const REQUEST_BYTES = 1024 * 1024;

interface LocalFile {
  readonly path: string;
  /** Differs if the file was replaced. */
  readonly id: string;
  readonly size: number;
  readonly open: () => Promise<ReadableFile | undefined>;
}

/** Copies the recorded bytes of runs to the server, so that its console and API show them while they grow. */
export function createRunCopies({ data, call, logger }: CopyOptions) {
  const runs = new Map<string, Map<string, Pick<LocalFile, 'id' | 'size'>>>();
  const busy = new Map<string, Promise<void>>();
  const timer = setInterval(() => {
    for (const id of runs.keys()) if (!busy.has(id)) void copy(id).catch(() => undefined);
  }, EVERY_MS).unref();

  /** Copies one run at a time: two copies of it would overwrite each other. */
  async function copy(id: string, plain?: PlainRun): Promise<void> {
    const before = busy.get(id)?.catch(() => undefined) ?? Promise.resolve();
    const work = before.then(async () => copyOnce(id, plain));
    busy.set(id, work);
    try {
      await work;
    } finally {
      if (busy.get(id) === work) busy.delete(id);
    }
  }

  async function copyOnce(id: string, plain: PlainRun | undefined): Promise<void> {
    const sent = runs.get(id);
    if (sent === undefined) return;
    const files = [...(await listFiles(data, id)), ...(plain === undefined ? [] : await listChanged(plain))];
    for (;;) {
      const batch = await readNew(files, sent);
      if (batch.length === 0) return;
      const parts = batch.map(({ file: { path }, offset, bytes }) => ({
        path,
        offset,
        data: bytes.toString('base64'),
      }));
      const sizes = await call<readonly number[]>(id, { call: 'bytes', files: parts });
      for (const [index, { file, offset, bytes }] of batch.entries()) {
        const size = sizes[index] ?? offset + bytes.length;
        // Another server has less of it, or none. More than was recorded belongs to a replaced file.
        sent.set(file.path, { id: file.id, size: size <= file.size ? size : 0 });
      }
    }
  }

  /** Reads what the server does not have yet, up to the size of a request. */
  async function readNew(files: readonly LocalFile[], sent: ReadonlyMap<string, Pick<LocalFile, 'id' | 'size'>>) {
    const batch: { readonly file: LocalFile; readonly offset: number; readonly bytes: Buffer }[] = [];
    let left = REQUEST_BYTES;
    for (const file of files) {
      const known = sent.get(file.path);
      const isSame = known?.id === file.id && known.size <= file.size;
      if (left === 0 || (isSame && known.size === file.size)) continue;
      const offset = isSame ? known.size : 0;
      const handle = await file.open();
      if (handle === undefined) continue;
      try {
        const bytes = Buffer.from(await readSpan(handle, offset, Math.min(left, file.size - offset)));
        // A file that became shorter is listed again later.
        if (bytes.length === 0 && file.size > offset) continue;
        batch.push({ file, offset, bytes });
        left -= bytes.length;
      } finally {
        await handle.close();
      }
    }
    return batch;
  }

  return {
    add: (id: string): void => void runs.set(id, new Map()),
    /** Copies the rest of a run before it ends, and what a plain run has changed. Throws only in an outage. */
    async finish(id: string, plain?: PlainRun) {
      try {
        await copy(id, plain);
      } catch (error) {
        if (isOutage(error)) throw error;
        logger.warn('cannot copy the files of a run to the server', { run_id: id, error: getErrorMessage(error) });
      }
      runs.delete(id);
    },
    close: (): void => clearInterval(timer),
  };
}

/** Reaches the sessions that a server keeps in its archive. */
export function createRemoteSessions(call: CallServer): SessionKeeper {
  return createSessionKeeper({
    find: async (id) => (await call<SessionManifest | null>(id, { call: 'find_session' })) ?? undefined,
    describe: async (id, manifest) => call(id, { call: 'describe_session', manifest }),
    write: async (id, part, bytes) =>
      call(id, { call: 'write_session', part, data: Buffer.from(bytes).toString('base64') }),
    async read(id, part) {
      const data = await call<string | null>(id, { call: 'read_session', part });
      return data === null ? undefined : Buffer.from(data, 'base64');
    },
    remove: async (id) => call(id, { call: 'remove_session' }),
  });
}

async function listChanged({ spec, result }: PlainRun): Promise<readonly LocalFile[]> {
  const files: LocalFile[] = [];
  for await (const file of listArtifactFiles({ spec, result, ended_at: new Date().toISOString() })) {
    files.push({ ...file, id: String(file.mtimeMs) });
  }
  return files;
}

/** Lists the recorded bytes of a run and the result of its order. */
async function listFiles(data: string, id: string): Promise<readonly LocalFile[]> {
  const folder = getRunFolderPath(data, id);
  const audit = await listAuditFiles(folder, { trustedRoot: data }).catch((error: unknown) => {
    if (isSluiceError(error)) return [];
    throw error;
  });
  const results: LocalFile[] = [];
  for (const path of ['work_order.json', ...RESULT_FILES]) {
    const open = async () => openForReading(join(folder, path), { trustedRoot: data }).catch(() => undefined);
    const handle = await open();
    if (handle === undefined) continue;
    try {
      const { ino, size } = await handle.stat();
      results.push({ path, id: String(ino), size, open });
    } finally {
      await handle.close();
    }
  }
  return [...audit, ...results];
}
