import { isArtifactPath } from '../run-folder/index.js';
import { fromJsonSchema, isJsonObject } from '../../json/schema/index.js';
import { isSluiceError, SluiceError } from '../../base/index.js';
import type { SchemaIssue, StandardSchema } from '../../json/index.js';
import { ENGINE_NAMES } from '../../events/index.js';
import type { RunPorts } from '../ports/run-ports.js';
import { listLaunchers } from '../launchers/launchers.js';
import { isStandardSchema, toJsonSchema } from './contract-schema.js';
import {
  PLACEMENT_FIELDS,
  runSpecSchema,
  type RunContract,
  type RunLimits,
  type RunSpec,
} from '../../store/records/index.js';

/**
 * A run spec is invalid; `issues` lists all problems with their paths.
 *
 * @example
 * if (error instanceof RunSpecError) for (const { path, message } of error.issues) console.error(path, message)
 */
export class RunSpecError extends SluiceError<'INVALID_RUN_SPEC'> {
  override readonly name = 'RunSpecError';
  readonly issues: readonly SchemaIssue[];

  constructor(issues: readonly SchemaIssue[]) {
    const summaries = issues.slice(0, 10).map(({ path, message }) => `${path.join('.') || 'the spec'}: ${message}`);
    super('INVALID_RUN_SPEC', `Invalid run spec: ${summaries.join('; ')}.`);
    this.issues = issues;
  }
}

export interface CheckedSpec {
  readonly spec: RunSpec;
  readonly schema: StandardSchema | undefined;
}

/** Checks a run spec; throws {@link RunSpecError} if it is invalid. */
export function checkRunSpec(
  value: unknown,
  added: AddedEngines & { readonly placements?: readonly string[] } = {},
): CheckedSpec {
  const { data, schema } = separateSchema(value);
  const issues = [...listShapeIssues(data)];
  if (issues.length > 0) throw new RunSpecError(issues);
  const spec = value as RunSpec;
  issues.push(...listEngineIssues(spec, added), ...listPlacementIssues(spec, added.placements));
  issues.push(...listSemanticIssues(spec));
  const compiledSchema = compileContract(schema, spec.contract, issues);
  if (issues.length > 0) throw new RunSpecError(issues);
  return { spec, schema: compiledSchema };
}

/** Separates what JSON cannot represent from a spec: the schema, normalizers and undefined values. */
function separateSchema(value: unknown): { readonly data: unknown; readonly schema: unknown } {
  if (!isJsonObject(value)) return { data: value, schema: undefined };
  const data = dropUndefined(value);
  if (isJsonObject(data['limits'])) data['limits'] = dropUndefined(data['limits']);
  if (!isJsonObject(data['contract'])) return { data, schema: undefined };
  const { schema, normalizers: _, ...contract } = data['contract'];
  data['contract'] = dropUndefined(contract);
  return { data, schema };
}

function dropUndefined(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

let specValidator: StandardSchema | undefined;

function listShapeIssues(data: unknown): readonly SchemaIssue[] {
  specValidator ??= fromJsonSchema(runSpecSchema);
  const result = specValidator['~standard'].validate(data);
  if (result instanceof Promise || result.issues === undefined) return [];
  return result.issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((step) => (typeof step === 'number' ? step : String(typeof step === 'object' ? step.key : step))),
  }));
}

/** Engines that a caller or a configuration adds to the built-in ones. */
type AddedEngines = Pick<RunPorts, 'agents' | 'launchers' | 'engines'>;

/** Checks the fields that depend on the available engines, which the configuration and the caller can add to. */
function listEngineIssues(spec: RunSpec, { agents, launchers: added, engines = [] }: AddedEngines): SchemaIssue[] {
  const { engine, permissions, format, session, cache } = spec;
  const launchers = listLaunchers(agents, added);
  const launcher = Object.hasOwn(launchers, engine) ? launchers[engine] : undefined;
  if (launcher === undefined) {
    const names = Object.keys(launchers).join(', ');
    return [{ path: ['engine'], message: `unknown engine "${engine}"; use one of: ${names}` }];
  }
  const issues: SchemaIssue[] = [];
  const add = (path: string, message: string): number => issues.push({ path: [path], message });
  const reader = format ?? launcher.format;
  const readers = [...ENGINE_NAMES, ...engines.map(({ name }) => name)].filter((name) => name !== 'acp');
  if (format !== undefined && engine !== 'command')
    add('format', `only engine \`command\` accepts "format", not ${engine}`);
  if (reader !== 'acp' && !readers.includes(reader))
    add('format', `unknown engine "${reader}"; use one of: ${readers.join(', ')}`);
  if (format === 'acp') add('format', 'a command cannot be read as "acp"; configure an ACP agent as agents.<name>.acp');
  if (session !== undefined && !launcher.canResume) add('session', `${engine} cannot resume sessions`);
  if (session !== undefined && cache !== undefined && cache !== false)
    add('session', 'a run that resumes a session cannot be cached');
  if (permissions === 'ask' && launcher.canAsk !== true)
    add('permissions', `${engine} cannot request permissions; use a two-way engine, such as claude-acp`);
  return issues;
}

function listSemanticIssues(spec: RunSpec): SchemaIssue[] {
  const issues: SchemaIssue[] = [];
  const add = (path: string, message: string): number => issues.push({ path: [path], message });
  if (spec.engine === 'command') {
    if (spec.command === undefined) add('command', 'engine `command` needs an executable and its arguments');
    else if (spec.command[0] === '') add('command', 'the executable has no name');
  } else {
    if (spec.command !== undefined) add('command', `only engine \`command\` accepts a command, not ${spec.engine}`);
    if ((spec.prompt ?? '').trim() === '') add('prompt', `${spec.engine} needs a prompt`);
  }
  if (spec.placement !== 'container' && spec.sandbox === 'off' && spec.network !== undefined && spec.network !== 'host')
    add('network', 'only a sandbox can restrict the network; use sandbox auto or required');
  const isCached = spec.cache !== undefined && spec.cache !== false;
  if (isCached && spec.input_files === undefined) {
    add(
      'input_files',
      'caching needs the list of files that the answer depends on; pass an empty list if there are no such files',
    );
  }
  for (const [index, path] of (spec.input_files ?? []).entries()) {
    if (!isArtifactPath(path)) {
      issues.push({ path: ['input_files', index], message: 'must be a path inside the working folder' });
    }
  }
  const { normalizers = [], schema } = spec.contract ?? {};
  if (!Array.isArray(normalizers) || !normalizers.every((one) => typeof one === 'function')) {
    issues.push({ path: ['contract', 'normalizers'], message: 'must be a list of functions' });
    return issues;
  }
  const isCode = normalizers.length > 0 || (isStandardSchema(schema) && toJsonSchema(schema) === undefined);
  if (isCached && isCode) {
    add('cache', 'functions cannot be part of a cache key; use a JSON Schema without normalizers, or no cache');
  }
  return issues;
}

type PlacementField = Exclude<(typeof PLACEMENT_FIELDS)[number], 'placement'>;
const SIZE = ['image', 'cpu', 'memory'] as const;

const PLACEMENTS: Readonly<Record<string, readonly PlacementField[]>> = {
  local: [],
  container: SIZE,
  kubernetes: [...SIZE, 'gpu', 'service_account', 'secrets', 'node_selector', 'tolerations'],
};

/** Refuses what a placement does not have. By default a run is started by this process, which starts no pods. */
export function listPlacementIssues(
  { placement = 'local', ...spec }: Partial<RunSpec>,
  available: readonly string[] = ['local', 'container'],
): SchemaIssue[] {
  if (!available.includes(placement))
    return [{ path: ['placement'], message: `${placement} is not available; use ${available.join(' or ')}` }];
  const issues = PLACEMENT_FIELDS.flatMap((field) => {
    if (field === 'placement' || spec[field] === undefined || PLACEMENTS[placement]?.includes(field) === true)
      return [];
    const names = Object.keys(PLACEMENTS).filter((each) => PLACEMENTS[each]?.includes(field) === true);
    return [{ path: [field], message: `needs placement ${names.join(' or ')}` }];
  });
  if (placement === 'local') return issues;
  const advice = `is not available in a ${placement === 'container' ? 'container' : 'pod'}; omit it`;
  const lacking = [
    ...(spec.terminal === undefined || spec.terminal === false ? [] : ['terminal']),
    // The image decides, and it has no version that Sluice could put into the key.
    ...(spec.cache === undefined || spec.cache === false ? [] : ['cache']),
    // Its home folder is new.
    ...(spec.session === undefined ? [] : ['session']),
  ];
  return [...issues, ...lacking.map((field) => ({ path: [field], message: advice }))];
}

/** A JSON Schema can be untrusted: no code is generated from it, and its cost is bounded. */
function compileContract(
  schema: unknown,
  contract: RunContract | undefined,
  issues: SchemaIssue[],
): StandardSchema | undefined {
  const refuse = (message: string): undefined => {
    issues.push({ path: ['contract', 'schema'], message });
  };
  if (schema === undefined) return undefined;
  if (isStandardSchema(schema)) {
    if (contract?.align !== true || '~sluice' in schema) return schema;
    return refuse('cannot align; create it with `fromJsonSchema` or wrap it with `alignable`');
  }
  if (!isJsonObject(schema)) return refuse('must be a JSON Schema or a Standard Schema');
  try {
    return fromJsonSchema(schema, { trusted: false });
  } catch (error) {
    if (isSluiceError(error)) return refuse(error.message);
    throw error;
  }
}

/** A run's limits, with defaults applied. */
export type ResolvedLimits = Readonly<Record<keyof RunLimits, number>>;

/**
 * A run's default limits: an hour of work, ten minutes without output, a day for a user to answer, a minute for a
 * process to wait for a permission before it is stopped, 256 MiB of output, 16 MiB per line, four million events, 1 GiB
 * in the run folder, and no limit on tokens and cost.
 */
export const DEFAULT_LIMITS: ResolvedLimits = {
  time_s: 3600,
  idle_s: 600,
  wait_s: 24 * 3600,
  hold_s: 60,
  output_bytes: 256 * 1024 * 1024,
  line_bytes: 16 * 1024 * 1024,
  events: 4_000_000,
  stored_bytes: 1024 * 1024 * 1024,
  tokens: Number.POSITIVE_INFINITY,
  cost: Number.POSITIVE_INFINITY,
};

/** Returns a spec's limits, with defaults applied. */
export function resolveLimits(limits: RunLimits = {}): ResolvedLimits {
  return { ...DEFAULT_LIMITS, ...limits };
}
