/**
 * The diagram of the rooms: `npm run picture [-- --write]`. Fails if the diagram in `docs/architecture.md` does not
 * match the imports; `--write` updates it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readImportGraph } from './layering/import-graph.js';
import { renderPicture, replacePicture } from './layering/render-picture.js';
import { PROJECT } from './run-tool.js';

const PAGE = join(PROJECT, 'docs/architecture.md');

const page = await readFile(PAGE, 'utf8');
const picture = replacePicture(page, renderPicture(await readImportGraph(PROJECT)));
if (process.argv.includes('--write')) await writeFile(PAGE, picture);
else if (picture !== page) {
  console.error('The diagram in docs/architecture.md is out of date. Run "npm run picture -- --write".');
  process.exitCode = 1;
}
