/**
 * The package gate: `npm run package`, after `npm run reference`. Builds unless the build is up to date, packs the
 * package and the small one, inspects the tarballs, and uses them as a new user would: in an empty project, with every
 * entry and the command, and with the compilers, bundlers and runtimes of `test/package-matrix`.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { tryMatrix } from './package/matrix.js';
import { findDeadLinks, findInPackage } from './package/find-dead-links.js';
import { inspectTarball } from './package/inspect-tarball.js';
import { pack, tryPublishing } from './package/pack.js';
import type { Tarball } from './package/pack.js';
import { tryAsConsumer } from './package/try-as-consumer.js';
import { PROJECT, run } from './run-tool.js';

const CONSUMER = join(PROJECT, 'test/fixtures/consumer/program.ts');
/** Entries that need a package that the consumer does not install; other tests use them. */
const NEED_OTHER_PACKAGES = ['sluice/langchain', 'sluice/react'];
const Manifest = z.object({ name: z.string(), exports: z.record(z.string(), z.unknown()) });

if (!existsSync(join(PROJECT, 'docs/api'))) {
  console.error('No API reference to pack. Run "npm run reference" first.');
  process.exit(1);
}
const folder = await mkdtemp(join(tmpdir(), 'sluice-package-'));
try {
  const problems = await checkPackage();
  for (const problem of problems) console.error(problem);
  console.log(`package: ${problems.length} problems`);
  process.exitCode = problems.length > 0 ? 1 : 0;
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function checkPackage(): Promise<string[]> {
  const tarball = await pack(PROJECT, folder);
  const smallPackage = await pack(join(PROJECT, 'dist/sluice-json'), folder);
  console.log(`packed ${tarball.files.length} files, and ${smallPackage.files.length} of sluice-json`);
  const problems = [...(await inspectTarball(tarball, folder)), ...(await inspectTarball(smallPackage, folder))];
  for (const source of [PROJECT, join(PROJECT, 'dist/sluice-json')]) problems.push(...(await tryPublishing(source)));
  problems.push(...listDeadLinks(PROJECT, tarball), ...listDeadLinks(join(PROJECT, 'dist/sluice-json'), smallPackage));

  const consumer = join(folder, 'consumer');
  const trial = await tryAsConsumer(tarball.path, CONSUMER, consumer);
  console.log(trial.stdout.trimEnd());
  if (trial.exitCode !== 0) problems.push(`consumer: ${trial.stdout}${trial.stderr}`);
  for (const entry of await findUnusedEntries(await readFile(CONSUMER, 'utf8'))) {
    problems.push(`${CONSUMER} does not use the entry ${entry}`);
  }

  const installed = await run(
    'npm',
    ['install', '--silent', '--prefer-offline', '--no-audit', '--no-fund', smallPackage.path],
    consumer,
  );
  if (installed.exitCode !== 0) problems.push(`sluice-json: ${installed.stderr}`);
  const matrix = await tryMatrix(consumer);
  problems.push(...matrix.problems);
  console.log(`used in ${matrix.passed.length} ways:\n  ${matrix.passed.join('\n  ')}`);
  if (matrix.notRun.length > 0)
    console.log(`skipped, not published for this platform:\n  ${matrix.notRun.join('\n  ')}`);

  const command = await run(join(consumer, 'node_modules', '.bin', 'sluice'), ['parse'], consumer, 'It is {"a": 1,}.');
  if (command.exitCode !== 0) problems.push(`command: ${command.stdout}${command.stderr}`);
  return problems;
}

/** Lists the broken links in the pages of a package. */
function listDeadLinks(root: string, { files }: Tarball): string[] {
  const pages = files.filter((file) => file.endsWith('.md'));
  return findDeadLinks({ root, pages, find: findInPackage(files) }).map((link) => `dead link: ${link}`);
}

async function findUnusedEntries(program: string): Promise<string[]> {
  const { name, exports } = Manifest.parse(JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')));
  return Object.keys(exports)
    .filter((entry) => !entry.endsWith('.json'))
    .map((entry) => entry.replace('.', name))
    .filter((entry) => !NEED_OTHER_PACKAGES.includes(entry) && !program.includes(`'${entry}'`));
}
