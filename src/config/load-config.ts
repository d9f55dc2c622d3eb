import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SluiceError, getErrorCode, getErrorMessage, omitUndefined } from '../base/index.js';
import { fromJsonSchema } from '../json-schema/index.js';
import { configFileSchema } from './config.js';
import type { Config, ConfigFile } from './config.js';
import { listLaunchers } from '../runs/index.js';
import type { AgentSettings } from '../runs/index.js';
import { findProjectData } from '../files/index.js';
import { hashConfig, listSettingsNeedingTrust, requireTrust } from './trust.js';
import type { ConfirmTrust, UntrustedConfig } from './trust.js';
import { knownKeys } from './known-keys.js';

/** Where settings come from; the first one found wins: flag, environment, file, default. */
export interface ConfigSources {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags?: {
    readonly config?: string | undefined;
    readonly data?: string | undefined;
    readonly database?: string | undefined;
  };
  /** Called before a file found in the current folder is used; without it only files that are already trusted are used. */
  readonly confirmTrust?: ConfirmTrust | undefined;
}

/** File names to look for in the current folder, in this order. */
const FILE_NAMES = ['sluice.config.mjs', 'sluice.config.json'];
/** Far more than anyone writes by hand. */
const MAX_FILE_BYTES = 1024 * 1024;
/** Long enough for a module that fetches secrets. */
const MAX_LOAD_MS = 10_000;

/** The configuration file in a folder; null if there is none. */
export async function findConfigFile(folder: string): Promise<string | null> {
  for (const name of FILE_NAMES) {
    const file = join(folder, name);
    if ((await stat(file).catch(() => undefined))?.isFile() === true) return file;
  }
  return null;
}

/**
 * Reads the settings: flag before environment (`SLUICE_CONFIG`, `SLUICE_DATA`, `SLUICE_DATABASE`) before
 * `sluice.config.mjs` or `.json` before default. Paths in the file are relative to the file. A file that was found rather than
 * named is used only if it is trusted or has no settings that need trust.
 *
 * @example
 * const config = await loadConfig({ cwd: process.cwd(), env: process.env, flags: { data: 'runs' } })
 */
export async function loadConfig({ cwd, env, flags = {}, confirmTrust }: ConfigSources): Promise<Config> {
  const named = flags.config ?? ignoreEmpty(env['SLUICE_CONFIG']);
  const file = named === undefined ? await findConfigFile(cwd) : resolve(cwd, named);
  const checkTrust = async (content: ConfigContent, needs: readonly string[]): Promise<void> => {
    if (named === undefined && needs.length > 0) await requireTrust({ ...content, needs }, env, confirmTrust);
  };
  const settings = file === null ? {} : await readConfigFile(file, checkTrust);
  const placed = placePaths(file === null ? cwd : dirname(file), settings);
  const chosen = ignoreEmpty(flags.data) ?? ignoreEmpty(env['SLUICE_DATA']) ?? placed.data;
  const { path: data, warning } =
    chosen === undefined ? findProjectData(cwd, env) : { path: resolve(cwd, chosen), warning: undefined };
  const database = flags.database ?? ignoreEmpty(env['SLUICE_DATABASE']) ?? placed.database;
  const warnings = [...(warning === undefined ? [] : [warning]), ...listReplacedEngines(placed.agents)];
  return { ...placed, data, warnings, database: database ?? `sqlite:${join(data, 'sluice.db')}`, file };
}

/** The content of a configuration file that a person trusts. */
type ConfigContent = Pick<UntrustedConfig, 'file' | 'sha256'>;

/** Throws unless the content is trusted with these settings. */
type CheckTrust = (content: ConfigContent, needs: readonly string[]) => Promise<void>;

/** A variable or flag that is empty counts as not set. */
function ignoreEmpty(variable: string | undefined): string | undefined {
  return variable === '' ? undefined : variable;
}

/**
 * Lists the settings of a file that need trust, without executing it, so that a person can decide.
 *
 * @example
 * await examineConfig('/srv/shop/sluice.config.json') // { file, sha256: '…', needs: ['wrappers'] }
 */
export async function examineConfig(file: string): Promise<ConfigContent & Pick<UntrustedConfig, 'needs'>> {
  const content = await readContent(file);
  const { sha256 } = content;
  if (!isJson(file)) return { file, sha256, needs: ['code'] };
  return { file, sha256, needs: listSettingsNeedingTrust(await checkShape(file, await readValue(file, content))) };
}

async function readConfigFile(file: string, checkTrust: CheckTrust): Promise<ConfigFile> {
  const content = await readContent(file);
  // Code needs trust before it is loaded; JSON is read first, because most settings need no trust.
  if (!isJson(file)) await checkTrust(content, ['code']);
  const settings = await checkShape(file, await readValue(file, content));
  if (isJson(file)) await checkTrust(content, listSettingsNeedingTrust(settings));
  return settings;
}

function isJson(file: string): boolean {
  return file.endsWith('.json');
}

async function checkShape(file: string, value: unknown): Promise<ConfigFile> {
  const checked = await fromJsonSchema<ConfigFile>(configFileSchema)['~standard'].validate(value);
  if (checked.issues === undefined) return checked.value;
  const places = checked.issues.map(({ path = [], message }) => {
    const keys = path.map(String);
    return `${keys.join('.') || 'the whole file'}: ${message}${hintFor(keys)}`;
  });
  throw new SluiceError(
    'INVALID_CONFIG',
    `Invalid configuration in "${file}": ${places.join('; ')}. docs/configuration.md lists all settings.`,
  );
}

/** An unknown key is usually a misspelt one. */
function hintFor(keys: readonly string[]): string {
  const known = knownKeys(keys.slice(0, -1));
  const key = keys.at(-1);
  if (key === undefined || known.length === 0 || known.includes(key)) return '';
  return ` (known here: ${known.join(', ')})`;
}

/** A file that is read only once, so that the hashed bytes are the parsed ones. */
async function readContent(file: string): Promise<ConfigContent & { readonly bytes: Uint8Array }> {
  try {
    await checkFile(file);
    const bytes = await readFile(file);
    return { file, bytes, sha256: hashConfig(bytes) };
  } catch (error) {
    throw unreadable(file, error);
  }
}

async function readValue(file: string, { bytes, sha256 }: Awaited<ReturnType<typeof readContent>>): Promise<unknown> {
  try {
    // The decoder strips the byte order mark that some editors write.
    if (isJson(file)) return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
    const module: unknown = await withTimeLimit(import(pathToFileURL(file).href));
    // Node.js reads the file again, so check that it loaded the trusted content.
    if (hashConfig(await readFile(file)) !== sha256) throw new Error('it changed while it was loaded');
    return typeof module === 'object' && module !== null ? Reflect.get(module, 'default') : undefined;
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, cause: unknown): SluiceError {
  const message = `Cannot read the configuration "${file}": ${getErrorMessage(cause)}. Correct it, or name another file.`;
  return new SluiceError('INVALID_CONFIG', message, { cause });
}

async function checkFile(file: string): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    throw getErrorCode(error) === 'ENOENT' ? new Error('no such file', { cause: error }) : error;
  });
  if (!found.isFile()) throw new Error('it is not a file');
  if (found.size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
}

/** Without a limit, a module that never finishes loading would make the command hang without a message. */
async function withTimeLimit<T>(loading: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const why = `loading it took longer than ${MAX_LOAD_MS / 1000} s; check what it waits for`;
    timer = setTimeout(() => reject(new Error(why)), MAX_LOAD_MS);
  });
  try {
    return await Promise.race([loading, late]);
  } finally {
    clearTimeout(timer);
  }
}

type Programs = NonNullable<ConfigFile['programs']>;
type Sandbox = NonNullable<ConfigFile['sandbox']>;
type Agents = NonNullable<ConfigFile['agents']>;

type PlacedSettings = Omit<ConfigFile, 'agents' | 'database'> &
  Pick<Config, 'agents' | 'pool'> &
  Partial<Pick<Config, 'database'>>;

/** The settings with every path in them resolved against the folder of their file. */
function placePaths(base: string, settings: ConfigFile): PlacedSettings {
  const { agents, database: named, ...others } = settings;
  const { data, roots, sinks, programs, sandbox } = others;
  const { url: database, pool } =
    typeof named === 'string' ? { url: named } : { url: undefined, pool: undefined, ...named };
  return {
    ...others,
    ...(data === undefined ? {} : { data: resolve(base, data) }),
    ...(database === undefined ? {} : { database: placeDatabase(base, database) }),
    ...omitUndefined({ pool }),
    ...(roots === undefined ? {} : { roots: roots.map((root) => resolve(base, root)) }),
    ...(sinks === undefined ? {} : { sinks: sinks.map((sink) => placeSink(base, sink)) }),
    ...(programs === undefined ? {} : { programs: placePrograms(base, programs) }),
    ...(agents === undefined ? {} : { agents: placeAgents(base, agents) }),
    ...(sandbox === undefined ? {} : { sandbox: placeSandbox(base, sandbox) }),
  };
}

/** `~` is the home folder of the user who runs Sluice. */
function placeSandbox(base: string, { use, read, write }: Sandbox): Sandbox {
  const place = (folder: string): string => resolve(base, folder.replace(/^~(?=\/|$)/, homedir()));
  return omitUndefined({ use, read: read?.map(place), write: write?.map(place) });
}

/** `sqlite:` names a file; other addresses stay unchanged. */
function placeDatabase(base: string, database: string): string {
  const file = /^sqlite:(?<file>.+)$/s.exec(database)?.groups?.['file'];
  return file === undefined ? database : `sqlite:${resolve(base, file)}`;
}

function placeSink<Sink extends { readonly dir?: string }>(base: string, sink: Sink): Sink {
  return sink.dir === undefined ? sink : { ...sink, dir: resolve(base, sink.dir) };
}

/**
 * A bare name is looked up on the PATH. A path that stayed relative would lead into the folder an agent works in. The
 * arguments are left alone.
 */
function placePrograms(base: string, programs: Programs): Programs {
  return Object.fromEntries(
    Object.entries(programs).map(([engine, start]) => [
      engine,
      typeof start === 'string' ? placeProgram(base, start) : placeWords(base, start),
    ]),
  );
}

function placeAgents(base: string, agents: Agents): Readonly<Record<string, AgentSettings>> {
  return Object.fromEntries(Object.entries(agents).map(([engine, agent]) => [engine, placeAgent(base, agent)]));
}

/** An agent may replace a built-in engine, but the user should know: the name then starts another program, in another way. */
function listReplacedEngines(agents: Readonly<Record<string, AgentSettings>> = {}): string[] {
  const known = listLaunchers();
  return Object.keys(agents)
    .filter((engine) => Object.hasOwn(known, engine))
    .map(
      (engine) =>
        `agents.${engine} replaces the built-in engine ${engine}. Give the agent another name if you want to use both.`,
    );
}

/** The schema has checked that it is one of the two. */
function placeAgent(base: string, agent: Agents[string]): AgentSettings {
  const { acp, authenticate, command = [], reads = 'generic', resume, env, keeps } = agent;
  if (acp !== undefined) return { acp: placeWords(base, acp), ...omitUndefined({ authenticate, env, keeps }) };
  const placed = resume === undefined ? undefined : placeWords(base, resume);
  return { command: placeWords(base, command), reads, ...omitUndefined({ resume: placed, env, keeps }) };
}

function placeWords(base: string, [program = '', ...words]: readonly string[]): string[] {
  return [placeProgram(base, program), ...words];
}

function placeProgram(base: string, program: string): string {
  return basename(program) === program ? program : resolve(base, program);
}
