/**
 * The diagram of the floors: `npm run picture [-- --write]`. Fails when the one in `docs/architecture.md` is not what the
 * imports say; `--write` draws it again.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readImportGraph } from './layering/import-graph.js';
import { putPicture, renderPicture } from './layering/render-picture.js';
import { PROJECT } from './run-tool.js';

const PAGE = join(PROJECT, 'docs/architecture.md');

const page = await readFile(PAGE, 'utf8');
const drawn = putPicture(page, renderPicture(await readImportGraph(PROJECT)));
if (process.argv.includes('--write')) await writeFile(PAGE, drawn);
else if (drawn !== page) {
  console.error('docs/architecture.md does not show the imports as they are: npm run picture -- --write');
  process.exitCode = 1;
}
