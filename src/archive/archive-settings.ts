import { SluiceError } from '../base/index.js';

/** Where an archive is, and with which credentials it is used. */
export interface ArchiveSettings {
  /** Without credentials, for messages: `s3://bucket/prefix`. */
  readonly place: string;
  readonly bucket: string;
  /** Empty, or without a slash at either end. */
  readonly prefix: string;
  /** Undefined for AWS itself. */
  readonly endpoint: URL | undefined;
  readonly region: string;
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  /** Whether the packed file stays on the machine of the run as well. */
  readonly keepsLocal: boolean;
  /** How often a run is copied while it grows; undefined for not at all. */
  readonly copyEveryMs: number | undefined;
  /** How large a part of a growing run becomes before the next one begins. */
  readonly growingPartBytes: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_REGION = 'us-east-1';
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/u;
const OPTIONS = ['endpoint', 'region', 'keep_local', 'copy_every_s', 'copy_part_kib'] as const;
const COPY_EVERY_S = 30;
const COPY_PART_KIB = 1024;

/**
 * Reads the address of an archive. Endpoint, region and credentials that it does not name come from the variables that other S3
 * clients use. Throws `INVALID_CONFIG`; no message repeats a credential.
 *
 * @example
 * readArchiveSettings('s3://runs/team-a?endpoint=https://minio.example.org', process.env).bucket // 'runs'
 */
export function readArchiveSettings(address: string, env: Environment): ArchiveSettings {
  const url = parseUrl(address);
  if (url?.protocol !== 's3:' || !BUCKET.test(url.host)) {
    throw invalid('is not an address of an archive. Use s3://bucket/prefix');
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid('contains credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead');
  }
  const unknown = [...url.searchParams.keys()].find((key) => !OPTIONS.some((option) => option === key));
  if (unknown !== undefined)
    throw invalid(`has an unknown option ${JSON.stringify(unknown)}. Known: ${OPTIONS.join(', ')}`);
  const prefix = decodePath(url.pathname);
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = env;
  if (accessKeyId === '' || secretAccessKey === '') {
    throw invalid('needs credentials. Set the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
  }
  const copyEveryS = readNumber(url, 'copy_every_s', { least: 0, most: 86_400, normal: COPY_EVERY_S });
  const sessionToken = env['AWS_SESSION_TOKEN'];
  return {
    place: `s3://${url.host}${prefix === '' ? '' : `/${prefix}`}`,
    bucket: url.host,
    prefix,
    endpoint: readEndpoint(url.searchParams.get('endpoint') ?? env['AWS_ENDPOINT_URL_S3'] ?? env['AWS_ENDPOINT_URL']),
    region: url.searchParams.get('region') ?? env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? DEFAULT_REGION,
    credentials: {
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined || sessionToken === '' ? {} : { sessionToken }),
    },
    keepsLocal: readFlag(url.searchParams.get('keep_local')),
    copyEveryMs: copyEveryS === 0 ? undefined : copyEveryS * 1000,
    growingPartBytes: 1024 * readNumber(url, 'copy_part_kib', { least: 64, most: 16_384, normal: COPY_PART_KIB }),
  };
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path).replaceAll(/^\/+|\/+$/gu, '');
  } catch {
    throw invalid('has an invalid prefix. Use s3://bucket/prefix');
  }
}

function readEndpoint(text: string | undefined): URL | undefined {
  if (text === undefined || text === '') return undefined;
  const url = parseUrl(text);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw invalid('has an invalid endpoint. Use an address that begins with https:// or http://');
  }
  if (url.username !== '' || url.password !== '') throw invalid('has an endpoint with credentials. Remove them');
  return url;
}

function readNumber(
  url: URL,
  name: (typeof OPTIONS)[number],
  { least, most, normal }: { readonly least: number; readonly most: number; readonly normal: number },
): number {
  const text = url.searchParams.get(name);
  const value = text === null ? normal : /^\d{1,6}$/u.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw invalid(`has an invalid ${name}. Use a whole number from ${least} to ${most}`);
}

function readFlag(text: string | null): boolean {
  if (text === null || text === 'true') return true;
  if (text === 'false') return false;
  throw invalid('has an invalid keep_local. Use true or false');
}

function invalid(what: string): SluiceError {
  return new SluiceError('INVALID_CONFIG', `The setting "archive" ${what}.`);
}
