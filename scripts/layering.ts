/**
 * The layering gate: `npm run layering [-- FOLDER]`. Fails if a file under `FOLDER/src` or `FOLDER/web` imports a room
 * that it must not import, or is part of an import cycle, or if the code weighs more than it may.
 */
import { resolve } from 'node:path';
import { checkLayering } from './layering/check-layering.js';
import { readImportGraph } from './layering/import-graph.js';
import { findOverweight, weigh } from './layering/weight.js';

const root = resolve(process.argv[2] ?? '.');
const graph = await readImportGraph(root);
const weight = await weigh(root, graph);
const problems = [...checkLayering(graph), ...findOverweight(weight)];
for (const problem of problems) console.error(problem);
console.log(`layering: ${graph.files.length} modules, ${graph.edges.length} imports, ${problems.length} violations`);
console.log(
  `weight: ${weight.src} lines in src, ${weight.web} in web, ${weight.withOneImporter} files with one importer`,
);
// A gate that found no files has not passed.
process.exitCode = problems.length > 0 || graph.files.length === 0 ? 1 : 0;
