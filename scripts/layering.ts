/**
 * The layering gate: `npm run layering [-- FOLDER]`. Fails if a file under `FOLDER/src` or `FOLDER/web` imports a room
 * that it must not import, or is part of an import cycle.
 */
import { resolve } from 'node:path';
import { checkLayering } from './layering/check-layering.js';
import { readImportGraph } from './layering/import-graph.js';

const graph = await readImportGraph(resolve(process.argv[2] ?? '.'));
const problems = checkLayering(graph);
for (const problem of problems) console.error(problem);
console.log(`layering: ${graph.files.length} modules, ${graph.edges.length} imports, ${problems.length} violations`);
// A gate that found no files has not passed.
process.exitCode = problems.length > 0 || graph.files.length === 0 ? 1 : 0;
