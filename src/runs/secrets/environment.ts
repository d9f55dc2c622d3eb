import { matchGlob } from '../../base/index.js';

/** Variables that any process needs to start and to find the user's files. */
const BASE_VARIABLES = 'PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TERM COLORTERM TMPDIR TZ'.split(' ');
/** Variables that Windows needs to start a process. */
const WINDOWS_VARIABLES =
  'SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT TEMP TMP USERNAME USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROCESSOR_ARCHITECTURE'.split(
    ' ',
  );

/**
 * Selects an agent's environment: a small base, and the variables allowed by name. `*` matches any characters,
 * but variables of Sluice itself (`SLUICE_…`) are only selected by their full name.
 *
 * @example
 * selectEnvironment(['OPENAI_*'], process.env) // PATH, HOME, …, OPENAI_API_KEY, OPENAI_BASE_URL
 */
export function selectEnvironment(
  allowed: readonly string[],
  ambient: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return selectVariables(
    [...BASE_VARIABLES, ...(process.platform === 'win32' ? WINDOWS_VARIABLES : []), ...allowed],
    ambient,
  );
}

/**
 * Selects the variables that a caller allows by name, without the base. Secrets are blanked: the variables are part of
 * the cache key, and a new password or token does not change the answer.
 *
 * @example
 * selectPublicVariables(['TARGET', 'API_KEY'], { TARGET: 'test', API_KEY: 'k-1' }) // { TARGET: 'test', API_KEY: '' }
 */
export function selectPublicVariables(
  allowed: readonly string[],
  ambient: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const variables = Object.entries(selectVariables(allowed, ambient)).map(([name, value]) => {
    const secrets = listSensitiveValues({ [name]: value });
    return [name, secrets.reduce((text, secret) => text.replaceAll(secret, ''), value)] as const;
  });
  return Object.fromEntries(variables);
}

function selectVariables(
  allowed: readonly string[],
  ambient: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const patterns = allowed.map(normalizeName);
  const isSelected = (name: string): boolean =>
    patterns.some((pattern) =>
      pattern.includes('*') && !name.startsWith('SLUICE_') ? matchGlob(pattern, name) : pattern === name,
    );
  return Object.fromEntries(
    Object.entries(ambient).flatMap(([name, value]) =>
      value !== undefined && isSelected(normalizeName(name)) ? [[name, value]] : [],
    ),
  );
}

/** Names are case-insensitive on Windows. */
function normalizeName(name: string): string {
  return process.platform === 'win32' ? name.toUpperCase() : name;
}

/** Long words that mark a secret anywhere in a name. */
const SECRET_WORD = /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|APIKEY|PRIVATE|WEBHOOK|BEARER|COOKIE/;
/** Short words that mark a secret only as a complete part of the name, or at its end (`OPENAIKEY`). */
const SECRET_PART = /(?:^|_)(?:AUTH|AUTHORIZATION|PASS|PAT|JWT|DSN|PIN)(?:_|$)|KEYS?(?:_|$)/;
/** Name suffixes of variables that describe a secret, such as its location or kind, but do not contain it. */
const DESCRIBES_SECRET = /_(?:FILE|PATH|DIR|HOME|SOCK|TYPE|MODE|METHOD|PROVIDER|NAME|HELPER|ENDPOINT)$/;

/**
 * Lists the values in an environment that must not be stored: values of variables with a sensitive name, and
 * credentials in any URL. A path or a URL without credentials is not a secret.
 *
 * @example
 * listSensitiveValues({ OPENAI_API_KEY: 'sk-1', PROXY: 'http://me:secret@host', PATH: '/bin' })
 * // ['sk-1', 'me:secret', 'secret']
 */
export function listSensitiveValues(environment: Readonly<Record<string, string | undefined>>): string[] {
  const values = new Set<string>();
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || value === '') continue;
    const url = parseUrl(value);
    if (url !== undefined) for (const secret of findCredentials(url, value)) values.add(secret);
    if (isSensitiveName(name) && (url === undefined || /WEBHOOK/i.test(name)) && !isPath(value)) values.add(value);
  }
  return [...values];
}

function isSensitiveName(name: string): boolean {
  const upper = name.toUpperCase();
  return (SECRET_WORD.test(upper) || SECRET_PART.test(upper)) && !DESCRIBES_SECRET.test(upper);
}

/** Whether a value is a file path. A key can start with a slash, but has no file extension. */
function isPath(value: string): boolean {
  return /^(?:~?\/|[A-Za-z]:\\).*\.\w{1,6}$/.test(value);
}

function parseUrl(value: string): URL | undefined {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(value) && URL.canParse(value) ? new URL(value) : undefined;
}

/** Finds the credentials in a URL, as written and decoded: the parsed URL can encode them differently. */
function findCredentials(url: URL, text: string): string[] {
  const credentials = [...url.searchParams].filter(([name]) => isSensitiveName(name)).map(([, value]) => value);
  if (url.password === '') return credentials;
  const userInfo = /^[^/]*\/\/([^/?#]*)@/.exec(text)?.[1] ?? '';
  const password = userInfo.slice(userInfo.indexOf(':') + 1);
  return [...credentials, userInfo, password, decode(password)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
