/**
 * Runs the randomized tests, and those that kill, race and attack, and the requirement mutations: `npm run torture [--
 * --damages 10000] [--rounds 10] [--seconds 60] [--only WORDS] [--minutes 60]`. `CampaignLength` explains the numbers;
 * `--only` selects the campaigns whose names contain the words. The soak test runs only with `--only soak`. Prints the
 * results; `docs/reliability.md` has the latest numbers. `--short` runs all campaigns once, with few repetitions and
 * fixed seeds, and ends with the totals like `npm test`.
 */
import { spawnSync } from 'node:child_process';
import { exitWithUsageError, readArguments } from './read-arguments.js';
import { PROJECT, runTool } from './run-tool.js';
import { join } from 'node:path';
import { breakClauses } from './requirements/break-clauses.js';
import { listClauses, readRequirements } from './requirements/clauses.js';
import { makeCampaigns, type Campaign } from './torture/campaigns.js';

const OPTIONS = {
  damages: { type: 'string', default: '10000' },
  rounds: { type: 'string', default: '10' },
  seconds: { type: 'string', default: '60' },
  only: { type: 'string', default: '' },
  minutes: { type: 'string', default: '60' },
  short: { type: 'boolean', default: false },
} as const;

const { values } = readArguments(
  { options: OPTIONS },
  'npm run torture [-- --damages N] [--rounds N] [--seconds N] [--only WORDS] [--minutes N] | npm run torture -- --short',
);
if (values.short) {
  const projects = ['campaigns', 'campaigns-postgres'].flatMap((name) => ['--project', name]);
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', 'scripts/test.ts', ...projects], {
    cwd: PROJECT,
    stdio: 'inherit',
  });
  process.exit(status ?? 1);
}
const length = {
  damages: Number(values.damages),
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  minutes: Number(values.minutes),
};
if (!Object.values(length).every((number) => number > 0))
  exitWithUsageError('--damages, --rounds, --seconds and --minutes must be numbers above 0.');
const campaigns = makeCampaigns(length);
const clauses = listClauses(await readRequirements(join(PROJECT, 'docs/requirements.json')));
const mutationsName = `mutations of the ${clauses.length} clauses in docs/requirements.json`;
const isSelected = (name: string) => name.toLowerCase().includes(values.only.toLowerCase());
const chosen = campaigns.filter(({ name, isLong = false }) => isSelected(name) && (!isLong || values.only !== ''));
const withMutations = isSelected(mutationsName);
if (chosen.length === 0 && !withMutations) {
  const names = [...campaigns.map(({ name }) => name), mutationsName].map((name) => `  ${name}`);
  exitWithUsageError(`No campaign has "${values.only}" in its name. The campaigns are:\n${names.join('\n')}`);
}

process.env['CAMPAIGN'] = '1';
process.env['RANDOM_SEEDS'] = '1';
let failures = 0;
for (const campaign of chosen) {
  const { passed, failed, took: seconds } = await runCampaign(campaign);
  failures += failed;
  console.log(
    `${campaign.name}: ${campaign.rounds} round${campaign.rounds === 1 ? '' : 's'}, ${passed} passed, ${failed} failed, ${seconds} s`,
  );
}
if (withMutations) failures += await runMutations();
console.log(failures === 0 ? 'no failures' : `${failures} failures; see the output above`);
process.exitCode = failures === 0 ? 0 : 1;

async function runCampaign({ files, rounds, settings }: Campaign) {
  const start = performance.now();
  for (const [name, value] of Object.entries(settings)) process.env[name] = String(value);
  let passed = 0;
  let failed = 0;
  for (let round = 0; round < rounds; round++) {
    const { stdout, stderr } = await runTool('tsx', ['scripts/test.ts', ...files], PROJECT);
    const [, passedCount, failedCount] = /(\d+) passed, (\d+) failed[^\n]*\n*$/.exec(stdout) ?? [];
    passed += Number(passedCount ?? 0);
    failed += Number(failedCount ?? 1);
    if (failedCount !== '0') console.error(`${stdout}${stderr}`);
    for (const [line] of stdout.matchAll(/^campaign: .*$/gm)) console.log(line);
  }
  return { passed, failed, took: Math.round((performance.now() - start) / 1000) };
}

/** Breaks each clause in turn; the tests named for it must fail. Returns the number of mutations that survived. */
async function runMutations(): Promise<number> {
  const start = performance.now();
  const { killed, problems } = await breakClauses(clauses);
  for (const problem of problems) console.error(problem);
  const seconds = Math.round((performance.now() - start) / 1000);
  console.log(`${mutationsName}: ${killed} killed, ${problems.length} failed, ${seconds} s`);
  return problems.length;
}
