import { getFloor } from './get-floor.js';
import { BASE_FLOOR } from './floors.js';
import type { ImportGraph } from './import-graph.js';

/** The kind of dependency between floors: code, or only types. */
type Strength = 'code' | 'types';

/** The comments that mark the picture in a page. */
const BEGIN = '<!-- picture of the imports, made by npm run picture -- --write -->';
const END = '<!-- end of the picture -->';

/**
 * Draws which floor imports which, as Mermaid: a line for code, dots for types only. An arrow that others imply (a
 * imports b, b imports c, so a may import c) is omitted; with all of them the picture would be unreadable.
 *
 * @example
 * renderPicture(graph) // 'flowchart TD\n  events --> json\n…'
 */
export function renderPicture({ edges }: ImportGraph): string {
  const arrows = new Map<string, Map<string, Strength>>();
  for (const { from, to, kind, typeOnly } of edges) {
    const [upper, lower] = [getFloor(from), getFloor(to)];
    // Imports that every floor has are omitted.
    if (kind !== 'file' || lower === BASE_FLOOR || upper === 'entries' || upper === lower) continue;
    const targets = arrows.get(upper) ?? new Map<string, Strength>();
    if (!typeOnly || !targets.has(lower)) targets.set(lower, typeOnly ? 'types' : 'code');
    arrows.set(upper, targets);
  }
  const lines = [...arrows].flatMap(([upper, targets]) =>
    [...targets]
      .filter(([lower, strength]) => {
        const others = [...targets].filter(
          ([other, via]) => other !== lower && (via === 'code' || strength === 'types'),
        );
        return !others.some(([other]) => isReachable(arrows, other, lower, strength));
      })
      .map(([lower, strength]) => `  ${upper} ${strength === 'code' ? '-->' : '-.->'} ${lower}`),
  );
  return ['flowchart TD', ...lines.toSorted()].join('\n');
}

/** Replaces the picture in a page. */
export function replacePicture(page: string, picture: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined)
    throw new Error(`The page has no markers for the picture. Add "${BEGIN}" and "${END}".`);
  return `${before}${BEGIN}\n\n\`\`\`mermaid\n${picture}\n\`\`\`\n\n${END}${after}`;
}

/** Checks whether a path of arrows leads from one floor to another; for code, type arrows do not count. */
function isReachable(
  arrows: ReadonlyMap<string, ReadonlyMap<string, Strength>>,
  from: string,
  to: string,
  minStrength: Strength,
): boolean {
  const seen = new Set<string>();
  const waiting = [from];
  for (let floor = waiting.pop(); floor !== undefined; floor = waiting.pop()) {
    if (seen.has(floor)) continue;
    seen.add(floor);
    for (const [lower, strength] of arrows.get(floor) ?? []) {
      if (minStrength === 'code' && strength === 'types') continue;
      if (lower === to) return true;
      waiting.push(lower);
    }
  }
  return false;
}
