import type { RunView } from '../../../src/api/index.js';
import type { Client } from '../../../src/client/index.js';
import { getErrorMessage } from '../../../src/base/index.js';
import type { FieldMap } from '../../server/refusal.js';
import { splitLines } from '../../ui/fields.js';

/** The body of `POST /v1/runs`. */
export type RunRequest = Parameters<Client['startRun']>[0]['body'];

/** The fields of an empty form; values are checked on submit. */
export const EMPTY_RUN_FORM = {
  engine: '',
  prompt: '',
  program: '',
  parameters: '',
  workdir: '',
  permissions: 'safe',
  mode: 'auto',
  sandbox: 'auto',
  network: 'host',
  hosts: '',
  schema: '',
  profile: 'default',
  allowPartial: false,
  align: false,
  timeS: '',
  idleS: '',
  waitS: '',
  tokens: '',
  cost: '',
  maxRetries: '0',
  model: '',
  env: '',
  cache: 'off',
  inputFiles: '',
  /** The last submission's request id; empty once any field was changed. */
  requestId: '',
};

/** See {@link EMPTY_RUN_FORM}. */
export type RunForm = Readonly<typeof EMPTY_RUN_FORM>;

/** A form field. */
export type RunField = keyof RunForm;

/** Form errors by field. */
export type RunErrors = Readonly<Partial<Record<RunField, string>>>;

/** The form field for each problem path or code. */
export const RUN_FIELD_MAP: FieldMap<RunField> = {
  paths: {
    engine: 'engine',
    prompt: 'prompt',
    command: 'program',
    workdir: 'workdir',
    permissions: 'permissions',
    mode: 'mode',
    sandbox: 'sandbox',
    network: 'hosts',
    contract: 'schema',
    'contract.profile': 'profile',
    'contract.allow_partial': 'allowPartial',
    'contract.align': 'align',
    'limits.time_s': 'timeS',
    'limits.idle_s': 'idleS',
    'limits.wait_s': 'waitS',
    'limits.tokens': 'tokens',
    'limits.cost': 'cost',
    max_retries: 'maxRetries',
    model: 'model',
    env: 'env',
    cache: 'cache',
    input_files: 'inputFiles',
  },
  codes: {
    FOLDER_NOT_ALLOWED: 'workdir',
    COMMAND_NOT_ALLOWED: 'program',
    PERMISSIONS_NOT_ALLOWED: 'permissions',
    ENVIRONMENT_NOT_ALLOWED: 'env',
  },
};

/**
 * Builds the request and finds errors that can be detected without the server, which validates the request again.
 *
 * @example
 * checkRunForm({ ...EMPTY_RUN_FORM, engine: 'codex', prompt: 'Fix the test.', workdir: '/srv/shop' })
 * // { request: { engine: 'codex', prompt: 'Fix the test.', workdir: '/srv/shop' }, errors: {} }
 */
export function checkRunForm(form: RunForm): { readonly request: RunRequest; readonly errors: RunErrors } {
  const errors: { -readonly [Field in RunField]?: string } = {};
  const isCommand = form.engine === 'command';
  if (form.engine === '') errors.engine = 'Choose an engine.';
  if (isCommand && form.program.trim() === '') errors.program = 'Choose a command.';
  if (!isCommand && form.prompt.trim() === '') errors.prompt = 'Enter a prompt.';
  if (!/^(?:\/|[A-Za-z]:[\\/])/.test(form.workdir.trim()))
    errors.workdir = 'Enter the absolute path of a folder on the server.';

  const number = (field: 'timeS' | 'idleS' | 'waitS' | 'tokens' | 'cost'): number | undefined => {
    const text = form[field].trim();
    if (text === '') return undefined;
    const value = Number(text);
    if (Number.isFinite(value) && value > 0) return value;
    errors[field] = 'Enter a number above 0, or leave empty.';
    return undefined;
  };
  const retries = Number(form.maxRetries.trim() || '0');
  if (!Number.isInteger(retries) || retries < 0 || retries > 100)
    errors.maxRetries = 'Enter a whole number from 0 to 100.';

  const limits = omitUnset({
    time_s: number('timeS'),
    idle_s: number('idleS'),
    wait_s: form.mode === 'interactive' && !isCommand ? number('waitS') : undefined,
    tokens: number('tokens'),
    cost: number('cost'),
  });
  const schema = readSchema(form.schema);
  if (typeof schema === 'string') errors.schema = schema;
  const contract = typeof schema === 'string' || schema === undefined ? undefined : buildContract(form, schema);
  if (schema === undefined && retries > 0) errors.maxRetries = 'Retries need a JSON Schema. Add one, or enter 0.';
  const env = splitEntries(form.env);
  const hosts = splitEntries(form.hosts);
  const reachesHosts = form.network === 'hosts' && form.sandbox !== 'off';
  if (reachesHosts && hosts.length === 0) errors.hosts = 'Enter at least one host, such as api.openai.com.';

  const request = {
    // Not checked here: the server has the list of engines and reports unknown ones for this field.
    engine: form.engine,
    workdir: form.workdir.trim(),
    ...omitUnset({
      prompt: form.prompt.trim() === '' ? undefined : form.prompt,
      command: isCommand ? [form.program.trim(), ...splitArguments(form.parameters)] : undefined,
      permissions:
        form.permissions === 'safe' || isCommand ? undefined : (form.permissions as RunRequest['permissions']),
      mode: form.mode === 'interactive' && !isCommand ? ('interactive' as const) : undefined,
      sandbox: form.sandbox === 'auto' ? undefined : (form.sandbox as RunRequest['sandbox']),
      // Without a sandbox nothing limits the network.
      network: reachesHosts ? hosts : form.network === 'none' && form.sandbox !== 'off' ? ('none' as const) : undefined,
      contract,
      limits: Object.keys(limits).length === 0 ? undefined : limits,
      max_retries: retries === 0 ? undefined : retries,
      model: form.model.trim() === '' || isCommand ? undefined : form.model.trim(),
      env: env.length === 0 ? undefined : env,
      cache: form.cache === 'off' ? undefined : form.cache === 'refresh' ? ('refresh' as const) : true,
      input_files: form.cache === 'off' ? undefined : splitLines(form.inputFiles),
    }),
  };
  return { request, errors };
}

/** Spec fields that are not in the form. They stay unchanged when a run is edited and restarted. */
export type OtherFields = Pick<RunRequest, 'terminal' | 'reads' | 'session' | 'approvals' | 'resume'> & {
  readonly limits: Pick<
    NonNullable<RunRequest['limits']>,
    'hold_s' | 'output_bytes' | 'line_bytes' | 'events' | 'stored_bytes'
  >;
};

/** Fills the form with an earlier run's spec. */
export function fillRunForm(spec: RunView['spec']): { readonly form: RunForm; readonly otherFields: OtherFields } {
  const { contract = {}, limits = {}, command = [] } = spec;
  const { hold_s, output_bytes, line_bytes, events, stored_bytes } = limits;
  const { terminal, reads, session, approvals, resume, network = 'host' } = spec;
  return {
    form: {
      engine: spec.engine,
      prompt: spec.prompt ?? '',
      program: command[0] ?? '',
      parameters: command.slice(1).join('\n'),
      workdir: spec.workdir,
      permissions: spec.permissions ?? 'safe',
      mode: spec.mode ?? 'auto',
      sandbox: spec.sandbox ?? 'auto',
      network: typeof network === 'string' ? network : 'hosts',
      hosts: typeof network === 'string' ? '' : network.join(' '),
      schema: contract.schema === undefined ? '' : JSON.stringify(contract.schema, null, 2),
      profile: contract.profile ?? 'default',
      allowPartial: contract.allow_partial ?? false,
      align: contract.align ?? false,
      timeS: formatNumber(limits.time_s),
      idleS: formatNumber(limits.idle_s),
      waitS: formatNumber(limits.wait_s),
      tokens: formatNumber(limits.tokens),
      cost: formatNumber(limits.cost),
      maxRetries: String(spec.max_retries ?? 0),
      model: spec.model ?? '',
      env: (spec.env ?? []).join(' '),
      cache: spec.cache === 'refresh' ? 'refresh' : spec.cache === true ? 'on' : 'off',
      inputFiles: (spec.input_files ?? []).join('\n'),
      requestId: '',
    },
    otherFields: {
      ...omitUnset({ terminal, reads, session, approvals, resume }),
      limits: omitUnset({ hold_s, output_bytes, line_bytes, events, stored_bytes }),
    },
  };
}

/** Adds the spec fields that are not in the form to the request. */
export function addOtherFields(request: RunRequest, { limits, ...otherFields }: OtherFields): RunRequest {
  const mergedLimits = { ...limits, ...request.limits };
  return { ...request, ...otherFields, ...(Object.keys(mergedLimits).length === 0 ? {} : { limits: mergedLimits }) };
}

function splitEntries(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}

/** Splits input into arguments, one per line and without quoting; an empty last line is dropped. */
function splitArguments(text: string): readonly string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function buildContract(form: RunForm, schema: Readonly<Record<string, unknown>>): NonNullable<RunRequest['contract']> {
  return {
    schema,
    ...omitUnset({
      profile:
        form.profile === 'default' ? undefined : (form.profile as NonNullable<RunRequest['contract']>['profile']),
      allow_partial: form.allowPartial || undefined,
      align: form.align || undefined,
    }),
  };
}

/** Parses a schema; undefined if blank, an error message if invalid. */
function readSchema(text: string): Readonly<Record<string, unknown>> | undefined | string {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return Object.fromEntries(Object.entries(value));
    }
    return 'Enter a JSON object, such as { "type": "object", … }.';
  } catch (error) {
    return `Invalid JSON: ${getErrorMessage(error)}`;
  }
}

/** Omits the fields that are not set. */
function omitUnset<Fields extends object>(fields: Fields): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  // Every key keeps its type, except undefined.
  return Object.fromEntries(entries) as { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };
}

function formatNumber(value: number | undefined): string {
  return value === undefined ? '' : String(value);
}
