/**
 * The package gate: `npm run package`. Packs the package, inspects the tarball, and uses it as a stranger would: installed
 * in an empty project, compiled against, run through every entry and as a command.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { inspectTarball } from './package/inspect-tarball.js';
import { pack } from './package/pack.js';
import { tryAsConsumer } from './package/try-as-consumer.js';
import { PROJECT, run } from './run-tool.js';

const CONSUMER = join(PROJECT, 'test/fixtures/consumer/program.ts');
const Manifest = z.object({ name: z.string(), exports: z.record(z.string(), z.unknown()) });

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
  console.log(`packed ${tarball.files.length} files`);
  const problems = await inspectTarball(tarball, folder);

  const consumer = join(folder, 'consumer');
  const trial = await tryAsConsumer(tarball.path, CONSUMER, consumer);
  console.log(trial.stdout.trimEnd());
  if (trial.exitCode !== 0) problems.push(`consumer: ${trial.stdout}${trial.stderr}`);
  for (const entry of await entriesMissingIn(await readFile(CONSUMER, 'utf8'))) {
    problems.push(`${CONSUMER} does not use the entry ${entry}`);
  }

  const command = await run(join(consumer, 'node_modules', '.bin', 'sluice'), ['parse'], consumer, 'It is {"a": 1,}.');
  if (command.exitCode !== 0) problems.push(`command: ${command.stdout}${command.stderr}`);
  return problems;
}

async function entriesMissingIn(program: string): Promise<string[]> {
  const { name, exports } = Manifest.parse(JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')));
  return Object.keys(exports)
    .filter((entry) => !entry.endsWith('.json'))
    .map((entry) => entry.replace('.', name))
    .filter((entry) => !program.includes(`'${entry}'`));
}
