import type { ImportGraph } from './import-graph.js';

/**
 * Import cycles, each as the list of its files along the shortest path. Type imports count
 * too: they vanish when the code runs, but neither file can be read or moved without the other.
 */
export function findCircles({ files, edges }: ImportGraph): string[][] {
  const imports = new Map<string, string[]>(files.map((file) => [file, []]));
  for (const { from, to, kind } of edges) if (kind === 'file') imports.get(from)?.push(to);
  const circles: string[][] = [];
  const covered = new Set<string>();
  for (const file of files) {
    if (covered.has(file)) continue;
    const circle = shortestCircle(file, imports);
    if (circle === undefined) continue;
    // One report for each knot of files is enough to start untangling it.
    for (const member of circle) covered.add(member);
    circles.push(circle);
  }
  return circles;
}

/** The shortest way from a file back to itself, breadth first. */
function shortestCircle(start: string, imports: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const waiting = [start];
  for (const file of waiting) {
    for (const next of imports.get(file) ?? []) {
      if (next === start) return traceBack(start, file, cameFrom);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, file);
      waiting.push(next);
    }
  }
  return undefined;
}

function traceBack(start: string, last: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const circle = [start];
  for (let file: string | undefined = last; file !== undefined && file !== start; file = cameFrom.get(file))
    circle.splice(1, 0, file);
  return circle;
}
