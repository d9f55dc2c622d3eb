import { findCircles } from './find-circles.js';
import { getFloor } from './get-floor.js';
import { FLOORS } from './floors.js';
import type { ImportEdge, ImportGraph } from './import-graph.js';

/** Every import that the layering does not allow, as a sentence. */
export function checkLayering(graph: ImportGraph): string[] {
  const { edges, files } = graph;
  return [
    ...files.filter((file) => FLOORS[getFloor(file)] === undefined).map((file) => `${file}: unknown floor`),
    ...edges.flatMap((edge) => {
      const objection = objectTo(edge);
      return objection === undefined ? [] : [`${edge.from} → ${edge.to}: ${objection}`];
    }),
    ...findCircles(graph).map((circle) => `${[...circle, circle[0]].join(' → ')}: import circle`),
  ];
}

function objectTo({ from, to, kind, typeOnly }: ImportEdge): string | undefined {
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
        : `${name} may not use it`;
    case 'file': {
      const target = getFloor(to);
      if (target === name) return undefined;
      if (FLOORS[target]?.eachFileIsADoor !== true && !/^src\/[^/]+\/index\.ts$/.test(to))
        return `${target} is entered through its index.ts`;
      if (floor.imports.includes(target)) return undefined;
      if (floor.types?.includes(target) !== true) return `${name} may not import ${target}`;
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
