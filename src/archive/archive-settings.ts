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
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_REGION = 'us-east-1';
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/u;
const OPTIONS = ['endpoint', 'region', 'keep_local'] as const;

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

function readFlag(text: string | null): boolean {
  if (text === null || text === 'true') return true;
  if (text === 'false') return false;
  throw invalid('has an invalid keep_local. Use true or false');
}

function invalid(what: string): SluiceError {
  return new SluiceError('INVALID_CONFIG', `The setting "archive" ${what}.`);
}
