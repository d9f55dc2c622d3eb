/**
 * The site: `npm run site [-- --base /PATH/] [--serve [--port N]]`. Builds it into `dist/site` for the path at which it will be
 * served, and fails if a link is broken; `--serve` then shows it.
 */
import { join } from 'node:path';
import { exitWithUsageError, readArguments } from './read-arguments.js';
import { PROJECT } from './run-tool.js';
import { buildSite } from './site/build-site.js';
import { findBrokenLinks } from './site/find-broken-links.js';
import { serveFolder } from './site/serve-folder.js';

const FOLDER = join(PROJECT, 'dist/site');
const USAGE = 'npm run site -- [--base /PATH/] [--serve] [--port N]';
const { values } = readArguments(
  {
    options: {
      base: { type: 'string', default: '/' },
      serve: { type: 'boolean', default: false },
      port: { type: 'string', default: '7180' },
    },
  },
  USAGE,
);
const { base, port } = values;
if (!/^\/(?:[\w.~-]+\/)*$/.test(base)) exitWithUsageError(`--base must start and end with a slash; usage: ${USAGE}`);
if (!/^\d{1,5}$/.test(port)) exitWithUsageError(`--port must be a number; usage: ${USAGE}`);

await buildSite({ base, folder: FOLDER });
const broken = findBrokenLinks(FOLDER, base);
for (const link of broken) console.error(`broken link: ${link}`);
console.log(`site: dist/site for ${base}, ${broken.length} broken links`);
if (broken.length > 0) process.exitCode = 1;
else if (values.serve) {
  const { url } = await serveFolder({ folder: FOLDER, base, port: Number(port) });
  console.log(`Open ${url}; stop with Ctrl+C.`);
}
