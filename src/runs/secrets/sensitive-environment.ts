/** Long words are telling anywhere in a name. */
const TELLING = /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|APIKEY|PRIVATE|WEBHOOK|BEARER|COOKIE/;
/** Short ones only as a part of their own, or as the end of one (`OPENAIKEY`). */
const TELLING_PART = /(?:^|_)(?:AUTH|AUTHORIZATION|PASS|PAT|JWT|DSN|PIN)(?:_|$)|KEYS?(?:_|$)/;
/** What such a variable says about a secret without being one: where it lies, of what kind it is. */
const TELLS_ABOUT = /_(?:FILE|PATH|DIR|HOME|SOCK|TYPE|MODE|METHOD|PROVIDER|NAME|HELPER|ENDPOINT)$/;

/**
 * The values in an environment that must not be written down: of variables whose name says so, and the credentials in
 * any address. A path or an address without credentials is none.
 *
 * @example
 * sensitiveEnvironment({ OPENAI_API_KEY: 'sk-1', PROXY: 'http://me:secret@host', PATH: '/bin' })
 * // ['sk-1', 'me:secret', 'secret']
 */
export function sensitiveEnvironment(environment: Readonly<Record<string, string | undefined>>): string[] {
  const values = new Set<string>();
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || value === '') continue;
    const address = readAddress(value);
    if (address !== undefined) for (const secret of credentialsOf(address, value)) values.add(secret);
    if (isSensitiveName(name) && (address === undefined || /WEBHOOK/i.test(name)) && !isPath(value)) values.add(value);
  }
  return [...values];
}

function isSensitiveName(name: string): boolean {
  const upper = name.toUpperCase();
  return (TELLING.test(upper) || TELLING_PART.test(upper)) && !TELLS_ABOUT.test(upper);
}

/** `GOOGLE_APPLICATION_CREDENTIALS` and its like name a file. A key may begin with a slash, but has no such ending. */
function isPath(value: string): boolean {
  return /^(?:~?\/|[A-Za-z]:\\).*\.\w{1,6}$/.test(value);
}

function readAddress(value: string): URL | undefined {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(value) && URL.canParse(value) ? new URL(value) : undefined;
}

/** Taken from the text, not from the parsed address, which writes them in its own way; and decoded. */
function credentialsOf(address: URL, text: string): string[] {
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
