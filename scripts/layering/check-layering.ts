import { findCycles } from './find-cycles.js';
import { getFloor } from './get-floor.js';
import { FLOORS } from './floors.js';
import type { ImportEdge, ImportGraph } from './import-graph.js';

/** Lists every import that the layering does not allow, as a message. */
export function checkLayering(graph: ImportGraph): string[] {
  const { edges, files } = graph;
  return [
    ...files.filter((file) => FLOORS[getFloor(file)] === undefined).map((file) => `${file}: unknown floor`),
    ...edges.flatMap((edge) => {
      const problem = findProblem(edge);
      return problem === undefined ? [] : [`${edge.from} → ${edge.to}: ${problem}`];
    }),
    ...findCycles(graph).map((cycle) => `${[...cycle, cycle[0]].join(' → ')}: import cycle`),
  ];
}

function findProblem({ from, to, kind, typeOnly }: ImportEdge): string | undefined {
  const name = getFloor(from);
  const floor = FLOORS[name];
  if (floor === undefined) return undefined;
  switch (kind) {
    case 'unresolved':
      return 'cannot be resolved';
    case 'node':
      return floor.browserSafe === true ? `${name} must load in a browser` : undefined;
    case 'package':
      return floor.packages === 'any' || floor.packages.includes(getPackageName(to))
        ? undefined
        : `${name} must not use it`;
    case 'file': {
      const target = getFloor(to);
      if (target === name) return undefined;
      if (FLOORS[target]?.hasNoIndex !== true && !/^src\/[^/]+\/index\.ts$/.test(to))
        return `${target} must be imported through its index.ts`;
      if (floor.imports.includes(target)) return undefined;
      if (floor.types?.includes(target) !== true) return `${name} must not import ${target}`;
      return typeOnly ? undefined : `${name} may import only types of ${target}`;
    }
  }
}

function getPackageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
