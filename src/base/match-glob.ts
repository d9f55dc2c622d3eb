/** One step of a pattern: a literal character, any one character except a slash, or any number of characters. */
type Step =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'one' }
  /** Does not match a slash. */
  | { readonly kind: 'segment' }
  | { readonly kind: 'all' }
  /** Precedes the steps of `**` and its slash: both can be skipped, so `**` also matches zero folders. */
  | { readonly kind: 'folders' };

/**
 * Whether a pattern matches an entire string. `*` matches any characters; with `segments`, any except a slash, and `**` matches
 * slashes too. Takes time proportional to the product of both lengths, for any input.
 *
 * @example
 * matchGlob('src/*.ts', 'src/a.ts', { segments: true }) // true
 */
export function matchGlob(
  pattern: string,
  text: string,
  { segments = false }: { readonly segments?: boolean } = {},
): boolean {
  const steps = pattern.split(/(\*+)/u).flatMap((token): readonly Step[] => {
    if (!token.startsWith('*')) return Array.from(token, (letter) => ({ kind: 'literal', text: letter }));
    return [segments && token.length === 1 ? { kind: 'segment' } : { kind: 'all' }];
  });
  return matchSteps(steps, text);
}

/**
 * Whether a path matches a glob: `*` matches characters within a name, `**` any folders, `?` one character. A glob that
 * ends with `/` means everything in that folder; a glob without wildcards means that file, or everything in that
 * folder. Takes time proportional to the product of both lengths.
 *
 * @example
 * matchPathGlob('src/**', 'src/a/b.ts') // true
 * matchPathGlob('src/*.ts', 'src/a/b.ts') // false
 */
export function matchPathGlob(glob: string, path: string): boolean {
  const cleaned = glob.replace(/^\.?\/+/, '');
  if (!/[*?]/.test(cleaned)) {
    const folder = cleaned.replace(/\/+$/, '');
    return folder === '' || path === folder || path.startsWith(`${folder}/`);
  }
  const parts = (cleaned.endsWith('/') ? `${cleaned}**` : cleaned).split('/');
  const steps = parts.flatMap((part, index) => {
    const end: readonly Step[] = index === parts.length - 1 ? [] : [{ kind: 'literal', text: '/' }];
    if (part !== '**') return [...Array.from(part, toStep), ...end];
    const all: readonly Step[] = [{ kind: 'all' }, ...end];
    return end.length === 0 ? all : [{ kind: 'folders' } as const, ...all];
  });
  return matchSteps(steps, path);
}

function toStep(letter: string): Step {
  if (letter === '*') return { kind: 'segment' };
  return letter === '?' ? { kind: 'one' } : { kind: 'literal', text: letter };
}

/** Simulates the pattern character by character, tracking the possible next steps. */
function matchSteps(steps: readonly Step[], text: string): boolean {
  let active = skipEmpty(steps, [0]);
  for (const letter of text) {
    const next: number[] = [];
    for (const at of active) {
      const step = steps[at];
      if (step === undefined) continue;
      if (step.kind === 'all' || (step.kind === 'segment' && letter !== '/')) next.push(at);
      else if (step.kind === 'literal' ? step.text === letter : step.kind === 'one' && letter !== '/')
        next.push(at + 1);
    }
    if (next.length === 0) return false;
    active = skipEmpty(steps, next);
  }
  return active.has(steps.length);
}

/** Adds the steps that can be reached without reading a character. */
function skipEmpty(steps: readonly Step[], from: readonly number[]): ReadonlySet<number> {
  const reachable = new Set(from);
  for (const at of reachable) {
    const kind = steps[at]?.kind;
    if (kind === 'segment' || kind === 'all' || kind === 'folders') reachable.add(at + 1);
    // After `**` and its slash.
    if (kind === 'folders') reachable.add(at + 3);
  }
  return reachable;
}
