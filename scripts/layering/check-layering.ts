import { findCycles } from './find-cycles.js';
import { getRoom } from './get-room.js';
import { ROOMS } from './rooms.js';
import type { ImportEdge, ImportGraph } from './import-graph.js';

/** Lists every import that the layering does not allow, as a message. */
export function checkLayering(graph: ImportGraph): string[] {
  const { edges, files } = graph;
  return [
    ...files.filter((file) => ROOMS[getRoom(file)] === undefined).map((file) => `${file}: unknown room`),
    ...edges.flatMap((edge) => {
      const problem = findProblem(edge);
      return problem === undefined ? [] : [`${edge.from} → ${edge.to}: ${problem}`];
    }),
    ...findCycles(graph).map((cycle) => `${[...cycle, cycle[0]].join(' → ')}: import cycle`),
  ];
}

function findProblem({ from, to, kind, typeOnly }: ImportEdge): string | undefined {
  const name = getRoom(from);
  const room = ROOMS[name];
  if (room === undefined) return undefined;
  switch (kind) {
    case 'unresolved':
      return 'cannot be resolved';
    case 'node':
      return room.browserSafe === true ? `${name} must load in a browser` : undefined;
    case 'package':
      return room.packages === 'any' || room.packages.includes(getPackageName(to))
        ? undefined
        : `${name} must not use it`;
    case 'file': {
      const target = getRoom(to);
      if (target === name) return undefined;
      // A door is for other rooms: a subfolder uses the files of its own room directly.
      const isOwnRoom = name.startsWith(`${target}/`);
      if (!isOwnRoom && ROOMS[target]?.hasNoIndex !== true && to !== `src/${target}/index.ts`)
        return `${target} must be imported through its index.ts`;
      if (from === `src/${name}/index.ts` && target.startsWith(`${name}/`))
        return `${target} has its own door, which the index of ${name} must not re-export`;
      if (room.imports.includes(target)) return undefined;
      if (room.types?.includes(target) !== true) return `${name} must not import ${target}`;
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
