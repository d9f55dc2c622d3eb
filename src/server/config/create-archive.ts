import { openArchive, readArchiveSettings } from '../../runs/archive/index.js';
import type { Archive } from '../../runs/archive/index.js';
import type { Config } from './config.js';

/**
 * Opens the configured archive without contacting it; returns undefined if none is configured.
 *
 * @example
 * const archive = await createArchive({ archive: 's3://runs/team-a' }, process.env)
 */
export async function createArchive(
  { archive }: Pick<Config, 'archive'>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Archive | undefined> {
  return archive === undefined ? undefined : openArchive(readArchiveSettings(archive, env));
}
