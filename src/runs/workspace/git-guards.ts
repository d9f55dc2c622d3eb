import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { arrayOf, count, object, orNull, text, type FromSchema } from '../../base/index.js';
import { findUserFolder, makeFolder, parseJson, readSmallFile, replaceFile } from '../../base/files/index.js';
import { fromRecordSchema } from '../../json/schema/index.js';
import { removePlaceholders, type GitGuards } from '../sandbox/index.js';
import { getProcessState, identifyOwnProcess } from '../process/process-identity.js';
import { lockFile } from './folder-lock.js';

const recordSchema = object({
  git: text,
  created: arrayOf(text),
  /** The processes that opened the sandboxes, by run. */
  holders: { type: 'object', additionalProperties: object({ pid: count, started: orNull(text) }) },
});

type GuardRecord = FromSchema<typeof recordSchema>;

const { validate } = fromRecordSchema<GuardRecord>(recordSchema)['~standard'];

/** The folder of the records in the user's folder. */
const GUARDS_FOLDER = 'guards';

const SUFFIX = '.json';
const MAX_RECORD_BYTES = 256 * 1024;
/** A process of another boot or container counts as gone after this time. */
const MAX_SILENCE_MS = 24 * 60 * 60 * 1000;

/**
 * Returns the folder of the records, which all processes of a user share: a run in a repository and one in a folder
 * above it belong to different projects, with different data folders. A user without a folder has one in `data`.
 */
export async function findGuardsFolder(data: string): Promise<string> {
  const shared = join(findUserFolder(process.env), GUARDS_FOLDER);
  return makeFolder(shared).then(
    () => shared,
    () => join(data, GUARDS_FOLDER),
  );
}

/**
 * Counts the sandboxes that use a git directory: runs in a folder and in a repository inside it guard the same
 * directory, and removing a placeholder would remove its mount from the other sandbox.
 */
export function createGitGuards(folder: string, run: string): GitGuards {
  return {
    async acquire(git, create) {
      const owner = await identifyOwnProcess();
      await update(folder, getName(git), async (record) => {
        const created = [...new Set([...(record?.created ?? []), ...(await create())])];
        return { git, created, holders: { ...record?.holders, [run]: owner } };
      });
    },
    async release(git) {
      await update(folder, getName(git), async (record) => {
        if (record === undefined) return undefined;
        const { [run]: _, ...holders } = record.holders;
        return { ...record, holders };
      });
    },
  };
}

export async function removeLeftPlaceholders(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.endsWith(SUFFIX)))
    await update(folder, name, async (record) => record);
}

function getName(git: string): string {
  return `${createHash('sha256').update(git).digest('hex').slice(0, 40)}${SUFFIX}`;
}

/** Changes a record under its lock. Without a running holder, the placeholders and the record are removed. */
async function update(
  folder: string,
  name: string,
  change: (record: GuardRecord | undefined) => Promise<GuardRecord | undefined>,
): Promise<void> {
  await makeFolder(folder);
  const path = join(folder, name);
  const lock = await lockFile(join(folder, 'locks'), path, {});
  try {
    const content = (await readSmallFile(path, MAX_RECORD_BYTES).catch(() => undefined)) ?? '';
    const found = await validate(parseJson(content));
    const changed = await change(found.issues === undefined ? found.value : undefined);
    if (changed === undefined) return await rm(path, { force: true });
    const { git, created } = changed;
    const holders = Object.entries(changed.holders);
    const states = await Promise.all(holders.map(async ([, owner]) => getProcessState(owner)));
    const changedAt = (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now();
    const maybeAlive: readonly unknown[] = Date.now() - changedAt < MAX_SILENCE_MS ? ['alive', 'unknown'] : ['alive'];
    const running = holders.filter((_, index) => maybeAlive.includes(states[index]));
    if (running.length > 0) {
      const record: GuardRecord = { git, created, holders: Object.fromEntries(running) };
      return await replaceFile(path, JSON.stringify(record), { isDurable: false });
    }
    await removePlaceholders(git, created);
    await rm(path, { force: true });
  } finally {
    await lock.release();
  }
}
