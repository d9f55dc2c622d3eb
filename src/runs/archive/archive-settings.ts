import { omitUndefined, SluiceError } from '../../base/index.js';

export type ArchiveSettings = ReturnType<typeof readArchiveSettings>;

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_REGION = 'us-east-1';
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/u;
const OPTIONS = ['endpoint', 'region', 'keep_local', 'copy_every_s', 'copy_part_kib'] as const;
/** A copy every few seconds costs more in requests than the runs themselves: by default, only complete runs are copied. */
const DEFAULT_COPY_EVERY_S = 0;
const DEFAULT_COPY_PART_KIB = 1024;

/**
 * Parses an archive address. The credentials come from the environment variables that other S3 clients use, and so do
 * the endpoint and the region unless the address sets them. Throws `INVALID_CONFIG`; no message contains a credential.
 */
export function readArchiveSettings(address: string, env: Environment) {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 's3:' || !BUCKET_NAME.test(url.host)) {
    throw createConfigError('is not an archive address. Use s3://bucket/prefix');
  }
  if (url.username !== '' || url.password !== '') {
    throw createConfigError('contains credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead');
  }
  const unknown = [...url.searchParams.keys()].find((key) => !OPTIONS.some((option) => option === key));
  if (unknown !== undefined)
    throw createConfigError(
      `has an unknown option ${JSON.stringify(unknown)}. Supported options: ${OPTIONS.join(', ')}`,
    );
  const prefix = decodePath(url.pathname);
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = env;
  if (accessKeyId === '' || secretAccessKey === '') {
    throw createConfigError(
      'requires credentials. Set the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    );
  }
  const copyEveryS = readNumber(url, 'copy_every_s', { min: 0, max: 86_400, fallback: DEFAULT_COPY_EVERY_S });
  const sessionToken = firstNonEmpty(env['AWS_SESSION_TOKEN']);
  return {
    /** The address without credentials, for messages: `s3://bucket/prefix`. */
    location: `s3://${url.host}${prefix === '' ? '' : `/${prefix}`}`,
    bucket: url.host,
    /** Empty, or without a slash at either end. */
    prefix,
    /** Undefined for AWS itself. */
    endpoint: readEndpoint(url, env),
    region:
      firstNonEmpty(url.searchParams.get('region'), env['AWS_REGION'], env['AWS_DEFAULT_REGION']) ?? DEFAULT_REGION,
    credentials: { accessKeyId, secretAccessKey, ...omitUndefined({ sessionToken }) },
    /** Whether the packed file also stays on the run's host. */
    keepsLocal: readFlag(url.searchParams.get('keep_local')),
    /** How often a run is copied while it grows; undefined to copy it when it ends or its process exits. */
    copyEveryMs: copyEveryS === 0 ? undefined : copyEveryS * 1000,
    /** The size at which a part of a growing run is complete and the next part starts. */
    growingPartBytes:
      1024 * readNumber(url, 'copy_part_kib', { min: 64, max: 16_384, fallback: DEFAULT_COPY_PART_KIB }),
  };
}

/** Returns the first non-empty string: an empty environment variable counts as unset, as in other S3 clients. */
function firstNonEmpty(...values: readonly (string | null | undefined)[]): string | undefined {
  return values.find((value) => typeof value === 'string' && value !== '') ?? undefined;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path).replaceAll(/^\/+|\/+$/gu, '');
  } catch {
    throw createConfigError('has an invalid prefix. Use s3://bucket/prefix');
  }
}

function readEndpoint(address: URL, env: Environment): URL | undefined {
  const option = firstNonEmpty(address.searchParams.get('endpoint'));
  const variable = firstNonEmpty(env['AWS_ENDPOINT_URL_S3']) === undefined ? 'AWS_ENDPOINT_URL' : 'AWS_ENDPOINT_URL_S3';
  const text = option ?? firstNonEmpty(env[variable]);
  if (text === undefined) return undefined;
  const source = option === undefined ? ` from the environment variable ${variable}` : '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw createConfigError(`has an invalid endpoint${source}. Use a URL that starts with https:// or http://`);
  }
  if (url.username !== '' || url.password !== '')
    throw createConfigError(`has an endpoint with credentials${source}. Remove them`);
  return url;
}

function readNumber(
  url: URL,
  name: (typeof OPTIONS)[number],
  { min, max, fallback }: { readonly min: number; readonly max: number; readonly fallback: number },
): number {
  const text = url.searchParams.get(name);
  const value = text === null ? fallback : /^\d{1,6}$/u.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw createConfigError(`has an invalid ${name}. Use a whole number from ${min} to ${max}`);
}

function readFlag(text: string | null): boolean {
  if (text === null || text === 'true') return true;
  if (text === 'false') return false;
  throw createConfigError('has an invalid keep_local. Use true or false');
}

function createConfigError(problem: string): SluiceError {
  return new SluiceError('INVALID_CONFIG', `The setting "archive" ${problem}.`);
}
