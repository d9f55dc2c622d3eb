/** The layering gate: `npm run layering [-- FOLDER]`. Fails when an import under `FOLDER/src` goes up in the house. */
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { checkLayering } from './layering/check-layering.js';
import { readImportGraph } from './layering/import-graph.js';

const root = resolve(process.argv[2] ?? '.');
const graph = await readImportGraph(root);
const seen = new Set(graph.files);
const problems = checkLayering(graph);

// A parser that is missing or refuses TypeScript yields an empty graph and a green gate: compare with the disk.
for (const name of await readdir(join(root, 'src'), { recursive: true })) {
  const file = `src/${name.replaceAll('\\', '/')}`;
  const isSource = file.endsWith('.ts') && !/\.(test|contract)\.ts$|\/fixtures\//.test(file);
  if (isSource && !seen.has(file)) problems.push(`${file}: was not read`);
}

for (const problem of problems) console.error(problem);
console.log(`layering: ${graph.files.length} modules, ${graph.edges.length} imports, ${problems.length} violations`);
process.exitCode = problems.length > 0 || graph.files.length === 0 ? 1 : 0;
