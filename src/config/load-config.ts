import { readFile, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SluiceError } from '../json/index.js';
import { fromJsonSchema } from '../json-schema/index.js';
import { configFileSchema } from './config.js';
import type { Config, ConfigFile } from './config.js';

/** Where settings are looked for, the first found wins: flag, environment, file, default. */
export interface ConfigSources {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags?: {
    readonly config?: string | undefined;
    readonly data?: string | undefined;
    readonly database?: string | undefined;
  };
}

/** Looked for in the current folder, in this order. */
const FILE_NAMES = ['sluice.config.mjs', 'sluice.config.json'];
const DEFAULT_DATA = '.sluice';
/** A configuration is written by hand. */
const MAX_FILE_BYTES = 1024 * 1024;

/**
 * Reads the settings: flag before environment (`SLUICE_CONFIG`, `SLUICE_DATA`, `SLUICE_DATABASE`) before
 * `sluice.config.mjs` or `.json` before default. Folders in the file are relative to the file.
 *
 * @example
 * const config = await loadConfig({ cwd: process.cwd(), env: process.env, flags: { data: 'runs' } })
 */
export async function loadConfig({ cwd, env, flags = {} }: ConfigSources): Promise<Config> {
  const named = flags.config ?? env['SLUICE_CONFIG'];
  const file = named === undefined ? await findFile(cwd) : resolve(cwd, named);
  const settings = file === null ? {} : await readConfigFile(file);
  const base = file === null ? cwd : dirname(file);
  const data = resolveFirst([
    [cwd, flags.data],
    [cwd, env['SLUICE_DATA']],
    [base, settings.data],
    [cwd, DEFAULT_DATA],
  ]);
  const database =
    flags.database ??
    env['SLUICE_DATABASE'] ??
    (settings.database === undefined ? undefined : relativeTo(base, settings.database));
  return {
    ...settings,
    ...(settings.roots === undefined ? {} : { roots: settings.roots.map((root) => resolve(base, root)) }),
    data,
    database: database ?? `sqlite:${join(data, 'sluice.db')}`,
    file,
  };
}

async function findFile(cwd: string): Promise<string | null> {
  for (const name of FILE_NAMES) {
    const file = join(cwd, name);
    if ((await stat(file).catch(() => undefined))?.isFile() === true) return file;
  }
  return null;
}

async function readConfigFile(file: string): Promise<ConfigFile> {
  const value = await readValue(file);
  const checked = await fromJsonSchema<ConfigFile>(configFileSchema)['~standard'].validate(value);
  if (checked.issues === undefined) return checked.value;
  const said = checked.issues.map(
    ({ path = [], message }) => `${path.map(String).join('.') || 'the whole'}: ${message}`,
  );
  throw new SluiceError(
    'INVALID_CONFIG',
    `${file} does not fit: ${said.join('; ')}. docs/configuration.md lists what it may say.`,
  );
}

async function readValue(file: string): Promise<unknown> {
  try {
    if (file.endsWith('.json')) return JSON.parse(await readBounded(file)) as unknown;
    const module: unknown = await import(pathToFileURL(file).href);
    return typeof module === 'object' && module !== null ? Reflect.get(module, 'default') : undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SluiceError('INVALID_CONFIG', `${file} cannot be read: ${why}`, { cause: error });
  }
}

async function readBounded(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > MAX_FILE_BYTES) throw new Error(`it is longer than ${MAX_FILE_BYTES} bytes`);
  return readFile(file, 'utf8');
}

/** The first that is there, as an absolute path. */
function resolveFirst(choices: readonly (readonly [base: string, path: string | undefined])[]): string {
  for (const [base, path] of choices) if (path !== undefined && path !== '') return resolve(base, path);
  return resolve(DEFAULT_DATA);
}

/** `sqlite:` names a file; other addresses are what they are. */
function relativeTo(base: string, database: string): string {
  const file = /^sqlite:(?<file>.+)$/.exec(database)?.groups?.['file'];
  return file === undefined || isAbsolute(file) ? database : `sqlite:${resolve(base, file)}`;
}
