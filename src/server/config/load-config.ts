import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SluiceError, findNearestName, getErrorCode, getErrorMessage, omitUndefined } from '../../base/index.js';
import { fromRecordSchema } from '../../json/schema/index.js';
import { configFileSchema, findDatabaseFile, type Config, type ConfigFile } from './config.js';
import { listLaunchers, type AgentSettings } from '../../runs/index.js';
import { findProjectData, parseJson, readSmallFile, replaceFile } from '../../base/files/index.js';
import { hashConfig, listSettingsNeedingTrust, requireTrust } from './trust.js';
import type { ConfirmTrust, UntrustedConfig } from './trust.js';
import { get, isRecord } from '../../events/index.js';

/** The sources of settings; the first one found wins: flag, environment, file, default. */
interface ConfigSources {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags?: ConfigFlags;
  /** Called before an untrusted file in the current folder is used; without it, such a file is an error. */
  readonly confirmTrust?: ConfirmTrust | undefined;
}

/** The options of a command that select its configuration and its store. */
export interface ConfigFlags {
  readonly config?: string;
  readonly data?: string;
  readonly database?: string;
}

/** File names to look for in the current folder, in this order. */
const FILE_NAMES = ['sluice.config.mjs', 'sluice.config.json'];
/** Far more than anyone writes by hand. */
const MAX_FILE_BYTES = 1024 * 1024;
/** Long enough for a module that fetches secrets. */
const MAX_LOAD_MS = 10_000;

export async function findConfigFile(folder: string): Promise<string | null> {
  for (const name of FILE_NAMES) {
    const file = join(folder, name);
    if ((await stat(file).catch(() => undefined))?.isFile() === true) return file;
  }
  return null;
}

/**
 * Loads the settings. Flags override the environment (`SLUICE_CONFIG`, `SLUICE_DATA`, `SLUICE_DATABASE`), which
 * overrides `sluice.config.mjs` or `.json`. Paths in the file are relative to it. A file that was found in the current
 * folder, not named by a flag or variable, is used only if it is trusted or has no settings that need trust.
 */
export async function loadConfig({ cwd, env, flags = {}, confirmTrust }: ConfigSources): Promise<Config> {
  const givenFile = ignoreEmpty(flags.config) ?? ignoreEmpty(env['SLUICE_CONFIG']);
  const file = givenFile === undefined ? await findConfigFile(cwd) : resolve(cwd, givenFile);
  const checkTrust = async (content: ConfigContent, needs: readonly string[]): Promise<void> => {
    if (givenFile === undefined && needs.length > 0) await requireTrust({ ...content, needs }, env, confirmTrust);
  };
  const settings = file === null ? {} : resolvePaths(dirname(file), await readConfigFile(file, checkTrust));
  const { agents: agentSettings, database: databaseSetting = {}, ...others } = settings;
  const { url, pool } = typeof databaseSetting === 'string' ? { url: databaseSetting } : databaseSetting;
  const chosen = ignoreEmpty(flags.data) ?? ignoreEmpty(env['SLUICE_DATA']) ?? settings.data;
  const data = chosen === undefined ? findProjectData(cwd, env) : resolve(cwd, chosen);
  const database = ignoreEmpty(flags.database) ?? ignoreEmpty(env['SLUICE_DATABASE']) ?? url;
  const agents = agentSettings === undefined ? undefined : readAgents(agentSettings);
  return {
    ...others,
    data,
    warnings: describeReplacedEngines(agents),
    database: database ?? `sqlite:${join(data, 'sluice.db')}`,
    file,
    ...omitUndefined({ agents, pool }),
  };
}

/** Identifies the content of a configuration file, so a user can trust it. */
type ConfigContent = Pick<UntrustedConfig, 'file' | 'sha256'>;

/** An empty variable or flag counts as not set. */
function ignoreEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

/** Lists a file's settings that need trust, without executing it, so a user can decide. */
export async function examineConfig(file: string): Promise<ConfigContent & Pick<UntrustedConfig, 'needs'>> {
  const content = await readContent(file);
  const { sha256 } = content;
  if (!isJson(file)) return { file, sha256, needs: ['code'] };
  return { file, sha256, needs: listSettingsNeedingTrust(await checkShape(file, await readValue(file, content))) };
}

/** `checkTrust` throws unless the content is trusted with these settings. */
async function readConfigFile(
  file: string,
  checkTrust: (content: ConfigContent, needs: readonly string[]) => Promise<void>,
): Promise<ConfigFile> {
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

const settingsSchema = fromRecordSchema<ConfigFile>(configFileSchema);

async function checkShape(file: string, value: unknown): Promise<ConfigFile> {
  const checked = await settingsSchema['~standard'].validate(value);
  if (checked.issues === undefined) return checked.value;
  const problems = checked.issues.map(({ path = [], message }) => {
    const keys = path.map(String);
    const unknown = describeUnknownKey(configFileSchema, keys);
    return `${keys.join('.') || 'the file'}: ${unknown ?? message}`;
  });
  throw new SluiceError(
    'INVALID_CONFIG',
    `Invalid configuration in "${file}": ${problems.join('; ')}. docs/configuration.md lists all settings.`,
  );
}

/** Reads the file once, so the hashed bytes are the ones that are parsed. */
async function readContent(file: string): Promise<ConfigContent & { readonly bytes: Uint8Array }> {
  try {
    await checkFile(file);
    const bytes = await readFile(file);
    return { file, bytes, sha256: hashConfig(bytes) };
  } catch (error) {
    throw createUnreadableError(file, error);
  }
}

async function readValue(file: string, { bytes, sha256 }: Awaited<ReturnType<typeof readContent>>): Promise<unknown> {
  try {
    // The decoder strips the byte order mark that some editors write.
    if (isJson(file)) return parseConfigJson(new TextDecoder().decode(bytes));
    // Node.js reads the file again. The first check covers the time a user takes to decide, the second covers the
    // loading.
    await checkUnchanged(file, sha256);
    // Node.js caches modules by URL; the hash in the URL makes it reload changed content.
    const module: unknown = await withTimeLimit(import(`${pathToFileURL(file).href}?sha256=${sha256}`));
    await checkUnchanged(file, sha256);
    return typeof module === 'object' && module !== null ? Reflect.get(module, 'default') : undefined;
  } catch (error) {
    throw createUnreadableError(file, error);
  }
}

/** Parses a JSON configuration. Comments are replaced with spaces, so positions in error messages stay correct. */
export function parseConfigJson(text: string): unknown {
  const blanked = text.replaceAll(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (part) =>
    part.startsWith('"') ? part : part.replaceAll(/[^\n]/g, ' '),
  );
  return JSON.parse(blanked) as unknown;
}

async function checkUnchanged(file: string, sha256: string): Promise<void> {
  if (hashConfig(await readFile(file)) !== sha256) throw new Error('it changed while it was being loaded');
}

function createUnreadableError(file: string, cause: unknown): SluiceError {
  const message = `Cannot read the configuration "${file}": ${getErrorMessage(cause)}. Correct the file, or choose another file with --config or SLUICE_CONFIG.`;
  return new SluiceError('INVALID_CONFIG', message, { cause });
}

async function checkFile(file: string): Promise<void> {
  const stats = await stat(file).catch((error: unknown) => {
    throw getErrorCode(error) === 'ENOENT' ? new Error('no such file', { cause: error }) : error;
  });
  if (!stats.isFile()) throw new Error('it is not a file');
  if (stats.size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
}

/** Without a limit, a module that never finishes loading would make the command hang without a message. */
async function withTimeLimit<T>(loading: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const reason = `loading it took longer than ${MAX_LOAD_MS / 1000} s; check what it waits for`;
    timer = setTimeout(() => reject(new Error(reason)), MAX_LOAD_MS);
  });
  try {
    return await Promise.race([loading, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Every path in the settings, by its keys: `*` is any key, and `0` the executable of a command. */
const PATHS: Readonly<Record<string, (base: string, path: string) => string>> = {
  data: resolve,
  database: resolveDatabase,
  'database.url': resolveDatabase,
  'roots.*': resolve,
  'sinks.*.dir': resolve,
  comment_template: resolve,
  'programs.*': resolveProgram,
  'programs.*.0': resolveProgram,
  'agents.*.acp.0': resolveProgram,
  'agents.*.command.0': resolveProgram,
  'agents.*.resume.0': resolveProgram,
  'sandbox.read.*': resolveMount,
  'sandbox.write.*': resolveMount,
  'wrappers.*.mounts.*': resolveMount,
  'server.tls.cert': resolve,
  'server.tls.key': resolve,
};

/** Resolves every path in the settings against the configuration file's folder. */
function resolvePaths(base: string, settings: ConfigFile): ConfigFile {
  return Object.entries(PATHS).reduce<unknown>(
    (resolved, [keys, resolvePath]) => replaceText(resolved, keys.split('.'), (path) => resolvePath(base, path)),
    settings,
  ) as ConfigFile;
}

function replaceText(value: unknown, [key, ...rest]: readonly string[], replace: (text: string) => string): unknown {
  if (key === undefined) return typeof value === 'string' ? replace(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(
    ([name, member]: readonly [string, unknown]) =>
      [name, key === '*' || key === name ? replaceText(member, rest, replace) : member] as const,
  );
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
}

/** `~` is the home folder of the user who runs Sluice. */
function resolveMount(base: string, path: string): string {
  return resolve(base, path.replace(/^~(?=\/|$)/, homedir()));
}

/** Resolves the path in a `sqlite:` URL; other URLs stay unchanged. */
function resolveDatabase(base: string, database: string): string {
  const file = findDatabaseFile(database);
  return file === undefined ? database : `sqlite:${resolve(base, file)}`;
}

/** A bare name is looked up on the PATH; a path would otherwise be relative to the agent's working folder. */
function resolveProgram(base: string, program: string): string {
  return basename(program) === program ? program : resolve(base, program);
}

/** The schema has checked that each agent has either `acp` or `command`. */
function readAgents(agents: NonNullable<ConfigFile['agents']>): Readonly<Record<string, AgentSettings>> {
  return Object.fromEntries(
    Object.entries(agents).map(([engine, agent]) => [
      engine,
      (agent.acp === undefined ? { format: 'generic', ...agent } : agent) as AgentSettings,
    ]),
  );
}

/** Returns a warning for each agent that replaces a built-in engine: its name then starts another executable. */
function describeReplacedEngines(agents: Readonly<Record<string, AgentSettings>> = {}): string[] {
  const replaced = Object.keys(agents).filter((engine) => Object.hasOwn(listLaunchers(), engine));
  return replaced.map(
    (engine) =>
      `agents.${engine} replaces the built-in engine ${engine}. Give the agent another name if you want to use both.`,
  );
}

/**
 * Describes a key that its object does not have according to a JSON Schema, with the nearest key of the object or of an
 * object in it; without one, with all its keys. Undefined if the object has the key, or any key is allowed.
 *
 * @example
 * describeUnknownKey(configFileSchema, ['retention', 'run']) // 'unknown key (did you mean "runs"?)'
 */
export function describeUnknownKey(schema: unknown, path: readonly string[]): string | undefined {
  const key = path.at(-1);
  const parent = findSubschema(schema, path.slice(0, -1));
  const names = getMember(getMember(parent, 'propertyNames'), 'enum');
  const properties = Object.entries(getMember(parent, 'properties') ?? {});
  const known = Array.isArray(names) ? names.map(String) : properties.map(([name]) => name);
  if (key === undefined || known.length === 0 || known.includes(key)) return undefined;
  const owner = properties.find(([, property]) => getMember(getMember(property, 'properties'), key) !== undefined);
  const nearest = findNearestName(key, known) ?? (owner === undefined ? undefined : `${owner[0]}.${key}`);
  return `unknown key (${nearest === undefined ? `use one of: ${known.join(', ')}` : `did you mean "${nearest}"?`})`;
}

/** Finds the JSON Schema of the value at a path; undefined if the schema does not say. */
export function findSubschema(schema: unknown, path: readonly string[]): unknown {
  return path.reduce(
    (parent, key) =>
      getMember(getMember(parent, 'properties'), key) ??
      getMember(parent, 'additionalProperties') ??
      getMember(parent, 'items'),
    schema,
  );
}

export function getMember(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

/** Adds an agent to a JSON configuration, created if missing; comments and other settings stay as they are. */
export async function addAgentToConfig(file: string, name: string, agent: AgentSettings): Promise<void> {
  const entry = JSON.stringify({ [name]: agent });
  if (!file.endsWith('.json'))
    throw new SluiceError('INVALID_CONFIG', `"${file}" is code, which is not edited. Add to its agents: ${entry}`);
  const text = await readSmallFile(file, MAX_FILE_BYTES);
  const settings = readSettings(text ?? '{}');
  const agents = isRecord(settings) ? (get.field(settings, 'agents') ?? {}) : undefined;
  if (!isRecord(settings) || !isRecord(agents))
    throw new SluiceError('INVALID_CONFIG', `"${file}" does not contain a configuration. Correct it, then try again.`);
  if (Object.hasOwn(agents, name))
    throw new SluiceError(
      'TARGET_EXISTS',
      `"${file}" already has agents.${name}, and was not changed. Edit it instead.`,
    );
  const addition = renderAddition(text ?? '{}', settings, agents, entry);
  if (addition === undefined)
    throw new SluiceError('INVALID_CONFIG', `"${file}" has comments and agents, so it is not edited. Add: ${entry}`);
  await replaceFile(file, addition);
}

function readSettings(text: string): unknown {
  try {
    return parseConfigJson(text);
  } catch {
    return undefined;
  }
}

/** Renders a configuration with one more agent; undefined if that would lose comments. */
function renderAddition(text: string, settings: object, agents: object, entry: string): string | undefined {
  const changed = { ...settings, agents: { ...agents, ...(JSON.parse(entry) as object) } };
  if (parseJson(text) !== undefined) return `${JSON.stringify(changed, null, 2)}\n`;
  // A brace in a comment is noticed below.
  const start = /^\s*\{/mu.exec(text);
  if (start === null || 'agents' in settings) return undefined;
  const at = start.index + start[0].length;
  const separator = Object.keys(settings).length === 0 ? '' : ',';
  const edited = `${text.slice(0, at)}\n  "agents": ${entry}${separator}${text.slice(at)}`;
  return JSON.stringify(readSettings(edited)) === JSON.stringify({ agents: changed.agents, ...settings })
    ? edited
    : undefined;
}
