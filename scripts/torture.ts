/**
 * Runs the randomized tests for much longer than `npm test` does, and the requirement mutations: `npm run torture [--
 * --damages 10000] [--rounds 10] [--seconds 60] [--only WORDS] [--minutes 60]`. `CampaignLength` explains the numbers;
 * `--only` selects the campaigns whose names contain the words. The soak test runs only with `--only soak`. Prints the
 * results; `docs/reliability.md` has the latest numbers.
 */
import { exitWithUsageError, readArguments } from './read-arguments.js';
import { PROJECT, runTool } from './run-tool.js';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readRequirements } from './requirements/read-requirements.js';
import { makeCampaigns, type Campaign } from './torture/campaigns.js';
import { MUTATIONS } from './torture/mutations.js';
import { findRow, openSandbox, runMutation } from './torture/run-mutation.js';

const OPTIONS = {
  damages: { type: 'string', default: '10000' },
  rounds: { type: 'string', default: '10' },
  seconds: { type: 'string', default: '60' },
  only: { type: 'string', default: '' },
  minutes: { type: 'string', default: '60' },
} as const;

const { values } = readArguments(
  { options: OPTIONS },
  'npm run torture [-- --damages N] [--rounds N] [--seconds N] [--only WORDS] [--minutes N]',
);
const length = {
  damages: Number(values.damages),
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  minutes: Number(values.minutes),
};
if (!Object.values(length).every((number) => number > 0))
  exitWithUsageError('--damages, --rounds, --seconds and --minutes must be numbers above 0.');
const campaigns = makeCampaigns(length);
const mutationsName = `${MUTATIONS.length} mutations for the clauses in docs/requirements.md`;
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

async function runCampaign({ project, files, rounds, settings }: Campaign) {
  const start = performance.now();
  for (const [name, value] of Object.entries(settings)) process.env[name] = String(value);
  let passed = 0;
  let failed = 0;
  for (let round = 0; round < rounds; round++) {
    // Failed tests are not repeated: the bugs that a campaign looks for can occur once in a thousand runs.
    const args = ['scripts/test.ts', '--retry=0', '--project', project, ...files];
    const { stdout, stderr } = await runTool('tsx', args, PROJECT);
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
  const requirements = readRequirements(await readFile(join(PROJECT, 'docs/requirements.md'), 'utf8'));
  const sandbox = await openSandbox();
  let survivors = 0;
  try {
    for (const mutation of MUTATIONS) {
      const row = findRow(mutation, requirements);
      const outcome =
        row === undefined
          ? { problem: 'docs/requirements.md must have this clause in exactly one row' }
          : await runMutation(sandbox, mutation, row);
      if (outcome === 'killed') continue;
      survivors += 1;
      const what = outcome === 'survived' ? 'survived' : outcome.problem;
      console.error(`${row?.number ?? '?'} ${mutation.clause} ${mutation.file}: ${what}`);
    }
  } finally {
    await sandbox.remove();
  }
  const seconds = Math.round((performance.now() - start) / 1000);
  console.log(`${mutationsName}: ${MUTATIONS.length - survivors} killed, ${survivors} failed, ${seconds} s`);
  return survivors;
}
