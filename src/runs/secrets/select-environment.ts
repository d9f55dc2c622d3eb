/** What any program needs to start and to find its user's files. */
const BASE = 'PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TERM COLORTERM TMPDIR TZ'.split(' ');
/** Without these Windows starts nothing. */
const WINDOWS_BASE =
  'SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT TEMP TMP USERNAME USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROCESSOR_ARCHITECTURE'.split(
    ' ',
  );

/**
 * The environment an agent gets: a small base, and what is allowed by name. `*` stands for any characters; variables of
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

/** Windows does not mind the case of names. */
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
