import type { RunView } from '../../../src/server/api/index.js';
import type { Client } from '../../../src/server/client/index.js';
import type { Profile } from '../../../src/json/index.js';
import { getErrorMessage } from '../../../src/base/index.js';
import { isObject } from '../../app/storage.js';
import {
  fillForm,
  mapPaths,
  omitUnset,
  splitLines,
  type FormOf,
  type FieldErrors,
  type FieldMap,
} from '../../ui/form.js';
import { t } from './texts.js';

type RunRequest = Parameters<Client['startRun']>[0]['body'];
type RunSpec = RunView['spec'];
const fieldAt = <Value extends string | boolean>(path: string | null, read: (spec: RunSpec) => Value) => ({
  path,
  read,
});
const limit = (name: keyof NonNullable<RunSpec['limits']>) =>
  fieldAt(`limits.${name}`, ({ limits = {} }) => String(limits[name] ?? ''));

/** The fields of the form: the path of each in a spec, and its value for a spec. Values are checked on submit. */
const RUN_FIELDS = {
  engine: fieldAt('engine', ({ engine }) => engine),
  prompt: fieldAt('prompt', ({ prompt = '' }) => prompt),
  program: fieldAt('command', ({ command = [] }) => command[0] ?? ''),
  parameters: fieldAt(null, ({ command = [] }) => command.slice(1).join('\n')),
  workdir: fieldAt('workdir', ({ workdir }) => workdir),
  permissions: fieldAt('permissions', ({ permissions = 'safe' }) => permissions),
  mode: fieldAt('mode', ({ mode = 'auto' }) => mode),
  sandbox: fieldAt('sandbox', ({ sandbox = 'auto' }) => sandbox),
  network: fieldAt(null, ({ network = 'host' }) => (typeof network === 'string' ? network : 'hosts')),
  hosts: fieldAt('network', ({ network = 'host' }) => (typeof network === 'string' ? '' : network.join(' '))),
  schema: fieldAt('contract', ({ contract }) =>
    contract?.schema === undefined ? '' : JSON.stringify(contract.schema, null, 2),
  ),
  profile: fieldAt('contract.profile', ({ contract }) => contract?.profile ?? 'default'),
  allowPartial: fieldAt('contract.allow_partial', ({ contract }) => contract?.allow_partial ?? false),
  align: fieldAt('contract.align', ({ contract }) => contract?.align ?? false),
  timeS: limit('time_s'),
  idleS: limit('idle_s'),
  waitS: limit('wait_s'),
  tokens: limit('tokens'),
  cost: limit('cost'),
  maxRetries: fieldAt('max_retries', ({ max_retries = 0 }) => String(max_retries)),
  model: fieldAt('model', ({ model = '' }) => model),
  env: fieldAt('env', ({ env = [] }) => env.join(' ')),
  cache: fieldAt('cache', ({ cache }) => (cache === 'refresh' ? 'refresh' : cache === true ? 'on' : 'off')),
  inputFiles: fieldAt('input_files', ({ input_files = [] }) => input_files.join('\n')),
  /** The last submission's request id; empty once any field was changed. */
  requestId: fieldAt(null, () => ''),
};

export type RunForm = FormOf<typeof RUN_FIELDS>;

export const EMPTY_RUN_FORM: RunForm = fillForm(RUN_FIELDS, { engine: '', workdir: '' });

export const RUN_FIELD_MAP: FieldMap<keyof RunForm> = {
  paths: mapPaths(RUN_FIELDS),
  codes: {
    FOLDER_NOT_ALLOWED: 'workdir',
    COMMAND_NOT_ALLOWED: 'program',
    PERMISSIONS_NOT_ALLOWED: 'permissions',
    ENVIRONMENT_NOT_ALLOWED: 'env',
  },
};

/** Builds the request and finds errors that can be detected without the server, which validates the request again. */
export function checkRunForm(form: RunForm): {
  readonly request: RunRequest;
  readonly errors: FieldErrors<keyof RunForm>;
} {
  const errors: { -readonly [Field in keyof RunForm]?: string } = {};
  const isCommand = form.engine === 'command';
  const isInteractive = form.mode === 'interactive' && !isCommand;
  if (form.engine === '') errors.engine = t.chooseAnEngine;
  if (isCommand && form.program.trim() === '') errors.program = t.chooseACommand;
  if (!isCommand && form.prompt.trim() === '') errors.prompt = t.enterAPrompt;
  if (!/^(?:\/|[A-Za-z]:[\\/])/.test(form.workdir.trim())) errors.workdir = t.enterTheAbsolutePathOf;

  const number = (field: 'timeS' | 'idleS' | 'waitS' | 'tokens' | 'cost'): number | undefined => {
    const input = form[field].trim();
    if (input === '') return undefined;
    const value = Number(input);
    if (Number.isFinite(value) && value > 0) return value;
    errors[field] = t.enterANumberAbove0;
    return undefined;
  };
  const retries = Number(form.maxRetries.trim() || '0');
  if (!Number.isInteger(retries) || retries < 0 || retries > 100) errors.maxRetries = t.enterAWholeNumberFrom;

  const limits = omitUnset({
    time_s: number('timeS'),
    idle_s: number('idleS'),
    wait_s: isInteractive ? number('waitS') : undefined,
    tokens: number('tokens'),
    cost: number('cost'),
  });
  const schema = readSchema(form.schema);
  if (typeof schema === 'string') errors.schema = schema;
  if (schema === undefined && retries > 0) errors.maxRetries = t.retriesNeedAJsonSchema;
  const env = splitEntries(form.env);
  const hosts = splitEntries(form.hosts);
  const reachesHosts = form.network === 'hosts' && form.sandbox !== 'off';
  if (reachesHosts && hosts.length === 0) errors.hosts = t.enterAtLeastOneHost;

  const request = {
    // Not checked here: the server has the list of engines and reports unknown ones for this field.
    engine: form.engine,
    workdir: form.workdir.trim(),
    ...omitUnset({
      prompt: form.prompt.trim() === '' ? undefined : form.prompt,
      command: isCommand ? [form.program.trim(), ...splitArguments(form.parameters)] : undefined,
      permissions:
        form.permissions === 'safe' || isCommand ? undefined : (form.permissions as RunRequest['permissions']),
      mode: isInteractive ? ('interactive' as const) : undefined,
      sandbox: form.sandbox === 'auto' ? undefined : (form.sandbox as RunRequest['sandbox']),
      // Without a sandbox nothing limits the network.
      network: reachesHosts ? hosts : form.network === 'none' && form.sandbox !== 'off' ? ('none' as const) : undefined,
      contract:
        typeof schema === 'object'
          ? {
              schema,
              ...omitUnset({
                profile: form.profile === 'default' ? undefined : (form.profile as Profile),
                allow_partial: form.allowPartial || undefined,
                align: form.align || undefined,
              }),
            }
          : undefined,
      limits: Object.keys(limits).length === 0 ? undefined : limits,
      max_retries: retries === 0 ? undefined : retries,
      model: isCommand ? undefined : form.model.trim(),
      env: env.length === 0 ? undefined : env,
      cache: form.cache === 'off' ? undefined : form.cache === 'refresh' ? ('refresh' as const) : true,
      input_files: form.cache === 'off' ? undefined : splitLines(form.inputFiles),
    }),
  };
  return { request, errors };
}

/** Spec fields that are not in the form. They stay unchanged when a run is edited and restarted. */
export type OtherFields = Pick<RunRequest, 'terminal' | 'format' | 'session' | 'approvals' | 'resume'> & {
  readonly limits: Pick<
    NonNullable<RunRequest['limits']>,
    'hold_s' | 'output_bytes' | 'line_bytes' | 'events' | 'stored_bytes'
  >;
};

export function fillRunForm(spec: RunSpec): Readonly<{ form: RunForm; otherFields: OtherFields }> {
  const { terminal, format, session, approvals, resume } = spec;
  const { hold_s, output_bytes, line_bytes, events, stored_bytes } = spec.limits ?? {};
  return {
    form: fillForm(RUN_FIELDS, spec),
    otherFields: {
      ...omitUnset({ terminal, format, session, approvals, resume }),
      limits: omitUnset({ hold_s, output_bytes, line_bytes, events, stored_bytes }),
    },
  };
}

export function addOtherFields<Request extends RunRequest>(
  request: Request,
  { limits, ...otherFields }: OtherFields,
): Request {
  const mergedLimits = { ...limits, ...request.limits };
  return { ...request, ...otherFields, ...(Object.keys(mergedLimits).length === 0 ? {} : { limits: mergedLimits }) };
}

function splitEntries(input: string): readonly string[] {
  return input.split(/[\s,]+/).filter((word) => word !== '');
}

/** Splits input into arguments, one per line and without quoting; an empty last line is dropped. */
function splitArguments(input: string): readonly string[] {
  const lines = input.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Parses a schema; undefined if blank, an error message if invalid. */
function readSchema(input: string): Readonly<Record<string, unknown>> | undefined | string {
  if (input.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(input);
    return isObject(value) ? value : t.enterAJsonObjectSuch;
  } catch (error) {
    return t.invalidJson(getErrorMessage(error));
  }
}
