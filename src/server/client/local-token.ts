/** The part of `node:fs` needed to read the token file. */
interface LocalFiles {
  readFileSync(path: string, encoding: 'utf8'): string;
}

/** The part of `process` that is used here. */
interface NodeProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  getBuiltinModule?(name: string): unknown;
}

/**
 * Finds the default token: `SLUICE_TOKEN` or, for a server on this host, the token that `sluice serve` generated for
 * this user. Undefined in a browser.
 */
export function findToken(url: string): string | undefined {
  const { process: node }: { readonly process?: NodeProcess } = globalThis;
  const environmentToken = node?.env['SLUICE_TOKEN'] ?? '';
  if (environmentToken !== '') return environmentToken;
  // Never sent to another host: that would leak the token.
  if (node?.getBuiltinModule === undefined || !isLoopback(url)) return undefined;
  const { XDG_DATA_HOME: data = '', HOME: home = '' } = node.env;
  try {
    // Not imported, because this file is also loaded in browsers.
    const files = node.getBuiltinModule('node:fs') as LocalFiles;
    const os = node.getBuiltinModule('node:os') as { homedir(): string };
    const folder = data.startsWith('/') ? data : `${home.startsWith('/') ? home : os.homedir()}/.local/share`;
    const token = files.readFileSync(`${folder}/sluice/token`, 'utf8').trim();
    return token === '' ? undefined : token;
  } catch {
    return undefined;
  }
}

function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
