/** Variables any program needs to start and to find its user's files. */
const BASE = 'PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TERM COLORTERM TMPDIR TZ'.split(' ');
/** Without these Windows starts nothing. */
const WINDOWS_BASE =
  'SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT TEMP TMP USERNAME USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROCESSOR_ARCHITECTURE'.split(
    ' ',
  );

/**
 * The environment an agent gets: a small base, and what is allowed by name. `*` matches any characters; variables of
 * Sluice itself (`SLUICE_…`) must be named in full.
 *
 * @example
 * selectEnvironment(['OPENAI_*'], process.env) // PATH, HOME, …, OPENAI_API_KEY, OPENAI_BASE_URL
 */
export function selectEnvironment(
  allowed: readonly string[],
  ambient: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const names = new Set([...BASE, ...(process.platform === 'win32' ? WINDOWS_BASE : []), ...allowed]);
  const globs = [...names].filter((name) => name.includes('*')).map((glob) => spell(glob).split('*'));
  const exact = new Set([...names].map(spell));
  const selected = Object.entries(ambient).filter(([name]) => {
    const spelled = spell(name);
    return exact.has(spelled) || (!spelled.startsWith('SLUICE_') && globs.some((parts) => matches(parts, spelled)));
  });
  return Object.fromEntries(selected.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** Names are case-insensitive on Windows. */
function spell(name: string): string {
  return process.platform === 'win32' ? name.toUpperCase() : name;
}

/** Each part at its first place after the one before: there is no better choice, so there is no need to try others. */
function matches(parts: readonly string[], name: string): boolean {
  const [first = '', ...middle] = parts;
  const last = middle.pop() ?? '';
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of middle) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

/** Long words mark a secret anywhere in a name. */
const SECRET_WORD = /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|APIKEY|PRIVATE|WEBHOOK|BEARER|COOKIE/;
/** Short words only as a whole part of the name, or at its end (`OPENAIKEY`). */
const SECRET_PART = /(?:^|_)(?:AUTH|AUTHORIZATION|PASS|PAT|JWT|DSN|PIN)(?:_|$)|KEYS?(?:_|$)/;
/** Variables that describe a secret without being one: where it is, of what kind it is. */
const DESCRIBES_SECRET = /_(?:FILE|PATH|DIR|HOME|SOCK|TYPE|MODE|METHOD|PROVIDER|NAME|HELPER|ENDPOINT)$/;

/**
 * Lists the values in an environment that must not be stored: of variables with a sensitive name, and the credentials in
 * any address. A path or an address without credentials is not a secret.
 *
 * @example
 * listSensitiveValues({ OPENAI_API_KEY: 'sk-1', PROXY: 'http://me:secret@host', PATH: '/bin' })
 * // ['sk-1', 'me:secret', 'secret']
 */
export function listSensitiveValues(environment: Readonly<Record<string, string | undefined>>): string[] {
  const values = new Set<string>();
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || value === '') continue;
    const address = readAddress(value);
    if (address !== undefined) for (const secret of findCredentials(address, value)) values.add(secret);
    if (isSensitiveName(name) && (address === undefined || /WEBHOOK/i.test(name)) && !isPath(value)) values.add(value);
  }
  return [...values];
}

function isSensitiveName(name: string): boolean {
  const upper = name.toUpperCase();
  return (SECRET_WORD.test(upper) || SECRET_PART.test(upper)) && !DESCRIBES_SECRET.test(upper);
}

/** `GOOGLE_APPLICATION_CREDENTIALS` and its like name a file. A key may begin with a slash, but has no such ending. */
function isPath(value: string): boolean {
  return /^(?:~?\/|[A-Za-z]:\\).*\.\w{1,6}$/.test(value);
}

function readAddress(value: string): URL | undefined {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(value) && URL.canParse(value) ? new URL(value) : undefined;
}

/** Taken from the text, not from the parsed address, which writes them in its own way; and decoded. */
function findCredentials(address: URL, text: string): string[] {
  const found = [...address.searchParams].filter(([name]) => isSensitiveName(name)).map(([, value]) => value);
  if (address.password === '') return found;
  const userInfo = /^[^/]*\/\/([^/?#]*)@/.exec(text)?.[1] ?? '';
  const password = userInfo.slice(userInfo.indexOf(':') + 1);
  return [...found, userInfo, password, decode(password)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
