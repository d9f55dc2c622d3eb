/**
 * Whether a path matches a glob: `*` stands for characters within a name, `**` for any folders, `?` for one character. A
 * glob that ends with `/` means everything in that folder; one without wildcards means that file, or everything in that
 * folder. Takes time proportional to the product of both lengths.
 *
 * @example
 * matchGlob('src/**', 'src/a/b.ts') // true
 * matchGlob('src/*.ts', 'src/a/b.ts') // false
 */
export function matchGlob(glob: string, path: string): boolean {
  const cleaned = glob.replace(/^\.?\/+/, '');
  if (!/[*?]/.test(cleaned)) {
    const folder = cleaned.replace(/\/+$/, '');
    return folder === '' || path === folder || path.startsWith(`${folder}/`);
  }
  const parts = (cleaned.endsWith('/') ? `${cleaned}**` : cleaned).split('/');
  return matchParts(parts, path.split('/'));
}

/** Row by row over the parts of the path: which prefixes of the glob match what was read so far. */
function matchParts(glob: readonly string[], path: readonly string[]): boolean {
  let reached = follow(glob, new Set([0]));
  for (const name of path) {
    const next = new Set<number>();
    for (const at of reached) {
      const part = glob[at];
      if (part === undefined) continue;
      if (part === '**') next.add(at);
      else if (matchName(part, name)) next.add(at + 1);
    }
    reached = follow(glob, next);
  }
  // `src/**` means what is in src, not src itself: the last `**` must have read something, which it has once it is reached.
  return reached.has(glob.length);
}

/** `**` may stand for nothing. */
function follow(glob: readonly string[], positions: ReadonlySet<number>): ReadonlySet<number> {
  const all = new Set(positions);
  for (const at of all) if (glob[at] === '**') all.add(at + 1);
  return all;
}

function matchName(glob: string, name: string): boolean {
  let reached = new Set([0]);
  const skip = (positions: Set<number>) => {
    for (const at of positions) if (glob[at] === '*') positions.add(at + 1);
    return positions;
  };
  reached = skip(reached);
  for (const letter of name) {
    const next = new Set<number>();
    for (const at of reached) {
      if (glob[at] === '*') next.add(at);
      else if (glob[at] === '?' || (glob[at] !== undefined && glob[at] === letter)) next.add(at + 1);
    }
    reached = skip(next);
  }
  return reached.has(glob.length);
}
