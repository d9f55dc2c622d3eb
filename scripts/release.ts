/**
 * A release: `npm run release [-- --publish]`. Checks that a release is possible, runs everything CI runs, then prints the
 * remaining steps; `--publish` performs them. Provenance is signed by the CI system that runs this, so publish from there.
 */
import { readFile } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { z } from 'zod';
import { checkRelease } from './release/check-release.js';
import { PROJECT, run } from './run-tool.js';

const Manifest = z.object({
  version: z.string(),
  repository: z.union([z.string(), z.object({ url: z.string() }).transform(({ url }) => url)]).optional(),
  homepage: z.string(),
  bugs: z.object({ url: z.string() }),
});

const { version, repository, homepage, bugs } = Manifest.parse(
  JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')),
);
const problems = checkRelease({
  version,
  repository,
  addresses: [homepage, bugs.url],
  branch: (await git('branch', '--show-current'))[0] ?? '',
  changes: await git('status', '--porcelain'),
  tags: await git('tag', '--list'),
  changelog: await readFile(join(PROJECT, 'CHANGELOG.md'), 'utf8'),
});
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);

runStep('bash', ['.ci/run']);
const steps: readonly (readonly [string, ...string[]])[] = [
  ['npm', 'run', '--silent', 'sbom', '--', `sluice-${version}.cdx.json`],
  ['npm', 'publish'],
  ['npm', 'publish', './dist/sluice-json'],
  ['git', 'tag', '--annotate', `v${version}`, '--message', `Sluice ${version}`],
  ['git', 'push', 'origin', `v${version}`],
];
for (const [program, ...args] of steps) {
  if (process.argv.includes('--publish')) runStep(program, args);
  else console.log([program, ...args].join(' '));
}

async function git(...args: readonly string[]): Promise<string[]> {
  const { exitCode, stdout, stderr } = await run('git', args, PROJECT);
  if (exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout.split('\n').filter((line) => line !== '');
}

/** Runs a step and shows its output; the first failure ends the release. */
function runStep(program: string, args: readonly string[]): void {
  const { status } = spawnSync(program, args, { cwd: PROJECT, stdio: 'inherit' });
  if (status === 0) return;
  console.error(`"${[program, ...args].join(' ')}" failed. The remaining steps were not run.`);
  process.exit(1);
}
