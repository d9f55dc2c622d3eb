/** The part of Node.js that reads a file, as far as it is needed here. */
interface LocalFiles {
  readFileSync(path: string, encoding: 'utf8'): string;
}

interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  getBuiltinModule?(name: string): unknown;
}

/**
 * The token that is sent where none was given: `SLUICE_TOKEN`, else, to a server of this machine, the token that
 * `sluice serve` has generated for this user. Undefined in a browser.
 */
export function findToken(url: string): string | undefined {
  const { process: found }: { readonly process?: Surroundings } = globalThis;
  const named = found?.env['SLUICE_TOKEN'] ?? '';
  if (named !== '') return named;
  // Never to another machine: the token would be theirs.
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
