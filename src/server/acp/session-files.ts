import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SluiceError, arrayOf, count, name, object, orNull, type FromSchema } from '../../base/index.js';
import { makeFolder, parseJson, readSmallFile, replaceFile } from '../../base/files/index.js';
import { fromRecordSchema } from '../../json/schema/index.js';
import { runPermissions } from '../../store/records/index.js';

/** Only the last runs of a session are stored. */
const MAX_RUNS = 200;
const MAX_BYTES = 64 * 1024;
/** Maximum number of files; the oldest are removed. */
const MAX_FILES = 1000;

const storedSessionSchema = object({
  version: { const: 1 },
  id: name,
  engine: name,
  cwd: name,
  permissions: runPermissions,
  /** The engine's session id; null until the engine has reported it. */
  session_id: orNull(name),
  /** Number of prompts so far. */
  turns: count,
  /** The runs of its last prompts, oldest first. */
  runs: arrayOf(name),
});

export type StoredSession = FromSchema<typeof storedSessionSchema>;

const sessionSchema = fromRecordSchema<StoredSession>(storedSessionSchema);

export type SessionFiles = ReturnType<typeof createSessionFiles>;

/** The format of session ids; no other client input is ever used as a file name. */
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/u;

export function createSessionFiles(data: string) {
  const folder = join(data, 'acp-sessions');
  const getPath = (id: string): string => join(folder, `${id}.json`);

  /** Ids start with a time, so the oldest files come first. Another process might remove them concurrently. */
  async function removeOldest(): Promise<void> {
    const files = (await readdir(folder)).filter((file) => ULID.test(file.replace(/\.json$/u, ''))).toSorted();
    for (const file of files.slice(0, Math.max(0, files.length - MAX_FILES)))
      await rm(join(folder, file), { force: true });
  }

  return {
    /** Undefined if the session is not stored. */
    async read(id: string): Promise<StoredSession | undefined> {
      if (!ULID.test(id)) return undefined;
      const text = await readSmallFile(getPath(id), MAX_BYTES);
      if (text === undefined) return undefined;
      const result = await sessionSchema['~standard'].validate(parseJson(text));
      if (result.issues !== undefined)
        throw new SluiceError(
          'ACP_SESSION_NOT_FOUND',
          `The session file "${getPath(id)}" is damaged. Start a new session.`,
        );
      return result.value;
    },
    async write(session: StoredSession) {
      await makeFolder(folder);
      const isNew = session.turns === 1;
      const text = JSON.stringify({ ...session, runs: session.runs.slice(-MAX_RUNS) });
      await replaceFile(getPath(session.id), `${text}\n`);
      if (isNew) await removeOldest();
    },
  };
}
