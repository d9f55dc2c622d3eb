/**
 * The API reference: `npm run reference`. Generates `docs/api/` from the doc comments; fails if a public name has none, a
 * function or class has no example, or a link is broken.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findDeadLinks } from './package/find-dead-links.js';
import { findUndocumented } from './reference/find-undocumented.js';
import { PROJECT, run } from './run-tool.js';

const FOLDER = join(PROJECT, 'reference');
const TYPEDOC = join(FOLDER, 'node_modules', '.bin', 'typedoc');

if (!existsSync(TYPEDOC)) await runOrThrow('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
const folder = await mkdtemp(join(tmpdir(), 'sluice-reference-'));
try {
  const model = join(folder, 'model.json');
  await runOrThrow(TYPEDOC, ['--json', model]);
  await fixAnchors(join(PROJECT, 'docs', 'api'));
  const problems = findUndocumented(JSON.parse(await readFile(model, 'utf8')));
  for (const problem of problems) console.error(problem);
  console.log(`reference: docs/api, ${problems.length} problems`);
  process.exitCode = problems.length > 0 ? 1 : 0;
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Removes the number that typedoc adds to some links whose anchor has none. */
async function fixAnchors(root: string): Promise<void> {
  const pages = (await readdir(root, { recursive: true })).filter((path) => path.endsWith('.md'));
  for (const dead of findDeadLinks({ root, pages, find: (path) => (pages.includes(path) ? 'file' : undefined) })) {
    const [page = '', link = ''] = dead.split(' → ');
    const path = join(root, page);
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replaceAll(`(${link})`, `(${link.replace(/-\d+$/, '')})`));
  }
}

async function runOrThrow(program: string, args: readonly string[]): Promise<void> {
  const { exitCode, stdout, stderr } = await run(program, args, FOLDER);
  if (exitCode !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`);
}
