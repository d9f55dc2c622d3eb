import { dirname, join } from 'node:path';
import { OrdersError } from '../orders-error.js';
import { readUserConfig, type GitFilters } from './run-git.js';

/** Names of filters, as JSON Schema. */
export const GIT_FILTERS_SCHEMA = {
  type: 'array',
  items: { type: 'string', pattern: '^[a-zA-Z0-9._-]{1,64}$' },
  maxItems: 16,
} as const;

const SETTING = /^filter\.(?<name>.+)\.(?<key>process|smudge|clean|required)(?:\n(?<value>.*))?$/s;

/**
 * Reads the commands of the named filters from the user's and the system's git configuration, never from a repository.
 * Call it once, at startup: agents running as the same user might be able to write that configuration later.
 *
 * @example
 * await readGitFilters(['lfs']) // { 'filter.lfs.process': 'git-lfs filter-process', 'filter.lfs.required': 'true', … }
 */
export async function readGitFilters(names: readonly string[]): Promise<GitFilters> {
  if (names.length === 0) return {};
  const settings: Record<string, string> = {};
  const defined = new Set<string>();
  for (const setting of await readUserConfig(['--get-regexp', String.raw`^filter\.`])) {
    // A key without a value means true.
    const { name = '', key = '', value = 'true' } = SETTING.exec(setting)?.groups ?? {};
    if (!names.includes(name)) continue;
    settings[`filter.${name}.${key}`] = value;
    if (key !== 'required' && value !== '') defined.add(name);
  }
  const missing = names.find((name) => !defined.has(name));
  if (missing === undefined) return settings;
  throw new OrdersError(
    'UNKNOWN_GIT_FILTER',
    `The setting "git.filters" names "${missing}", which this user's git configuration does not define. ` +
      `Define it there (for Git LFS: git lfs install --skip-repo), or remove it from the setting.`,
  );
}

/**
 * Adapts the filters to a private git directory that uses a repository's objects. Git LFS stores file contents next to
 * the objects; without this setting it would use the private directory, which is deleted afterwards.
 */
export function adaptGitFilters(filters: GitFilters, objects: string): GitFilters {
  const isLfs = Object.keys(filters).some((key) => key.startsWith('filter.lfs.'));
  return isLfs ? { ...filters, 'lfs.storage': join(dirname(objects), 'lfs') } : filters;
}
