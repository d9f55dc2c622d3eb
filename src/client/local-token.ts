/** The few Node.js functions that are needed to read the token file. */
interface LocalFiles {
  readFileSync(path: string, encoding: 'utf8'): string;
}

interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  getBuiltinModule?(name: string): unknown;
}

/**
 * The token to send if none was given: `SLUICE_TOKEN` or, for a server on this machine, the token that
 * `sluice serve` generated for this user. Undefined in a browser.
 */
export function findToken(url: string): string | undefined {
  const { process: found }: { readonly process?: Surroundings } = globalThis;
  const named = found?.env['SLUICE_TOKEN'] ?? '';
  if (named !== '') return named;
  // Never to another machine: that would leak the token.
  if (found?.getBuiltinModule === undefined || !isThisMachine(url)) return undefined;
  const { XDG_DATA_HOME: data = '', HOME: home = '' } = found.env;
  try {
    // No import: this file is loaded in browsers, too.
    const files = found.getBuiltinModule('node:fs') as LocalFiles;
    const system = found.getBuiltinModule('node:os') as { homedir(): string };
    const folder = data.startsWith('/') ? data : `${home.startsWith('/') ? home : system.homedir()}/.local/share`;
    const token = files.readFileSync(`${folder}/sluice/token`, 'utf8').trim();
    return token === '' ? undefined : token;
  } catch {
    return undefined;
  }
}

function isThisMachine(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
