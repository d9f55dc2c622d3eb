import type { ImportGraph } from './import-graph.js';

/**
 * Finds import cycles, each as the list of its files along the shortest path. Type imports count too: they have no
 * effect at run time, but neither file can be understood or moved without the other.
 */
export function findCycles({ files, edges }: ImportGraph): string[][] {
  const imports = new Map<string, string[]>(files.map((file) => [file, []]));
  for (const { from, to, kind } of edges) if (kind === 'file') imports.get(from)?.push(to);
  const cycles: string[][] = [];
  const covered = new Set<string>();
  for (const file of files) {
    if (covered.has(file)) continue;
    const cycle = findShortestCycle(file, imports);
    if (cycle === undefined) continue;
    // One report is enough for a group of files that import each other.
    for (const member of cycle) covered.add(member);
    cycles.push(cycle);
  }
  return cycles;
}

/** Finds the shortest path from a file back to itself, breadth first. */
function findShortestCycle(start: string, imports: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const file of queue) {
    for (const next of imports.get(file) ?? []) {
      if (next === start) return traceBack(start, file, cameFrom);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, file);
      queue.push(next);
    }
  }
  return undefined;
}

function traceBack(start: string, last: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const cycle = [start];
  for (let file: string | undefined = last; file !== undefined && file !== start; file = cameFrom.get(file))
    cycle.splice(1, 0, file);
  return cycle;
}
