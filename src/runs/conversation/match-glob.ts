type Step = { readonly literal: string } | { readonly any: 'all' | 'segment' };

/**
 * Whether a pattern matches a whole text: `*` stands for any characters, with `segments` for any but a slash, and `**` for
 * those too. Takes time in proportion to both lengths, whatever they hold.
 *
 * @example
 * matchGlob('src/*.ts', 'src/a.ts', { segments: true }) // true
 */
export function matchGlob(
  pattern: string,
  text: string,
  { segments = false }: { readonly segments?: boolean } = {},
): boolean {
  const steps = readSteps(pattern, segments);
  // Which steps may come next; one that stands for any number of characters may be left out.
  let active = skipEmpty(steps, [0]);
  for (const char of text) {
    const next: number[] = [];
    for (const at of active) {
      const step = steps[at];
      if (step === undefined) continue;
      if ('literal' in step) {
        if (step.literal === char) next.push(at + 1);
      } else if (step.any === 'all' || char !== '/') next.push(at);
    }
    if (next.length === 0) return false;
    active = skipEmpty(steps, next);
  }
  return active.has(steps.length);
}

function readSteps(pattern: string, segments: boolean): readonly Step[] {
  const steps: Step[] = [];
  for (const piece of pattern.split(/(\*+)/u)) {
    if (!piece.startsWith('*')) for (const literal of piece) steps.push({ literal });
    else steps.push({ any: segments && piece.length === 1 ? 'segment' : 'all' });
  }
  return steps;
}

function skipEmpty(steps: readonly Step[], from: readonly number[]): ReadonlySet<number> {
  const reached = new Set<number>();
  for (let at of from) {
    reached.add(at);
    for (let step = steps[at]; step !== undefined && 'any' in step; step = steps[at]) {
      at += 1;
      reached.add(at);
    }
  }
  return reached;
}
