/**
 * Records the real agents: `npm run record [-- --to FOLDER] [--scenario NAME] [ENGINE…]`. Runs the scenarios of `npm
 * run real` and writes the agents' output to their engines' fixtures, or to FOLDER. Afterwards `UPDATE_GOLDEN=1 npx
 * vitest run src/events/engines/ENGINE` writes the events next to it; read them.
 */
import { join, resolve } from 'node:path';
import { readInstalledVersion, installPrograms } from '../test/real/install-programs.js';
import { REAL_ENGINES, type RealEngine } from '../test/real/real-engine.js';
import { runScenario, SCENARIOS, type Scenario } from '../test/real/scenarios.js';
import type { Stage } from '../test/real/stage.js';
import { exitWithUsageError, readArguments } from './read-arguments.js';
import { writeRecording } from './record/write-recording.js';
import { PROJECT } from './run-tool.js';

/** Codex warns about a home inside the default temporary folder. */
process.env['TMPDIR'] = '/var/tmp';

const { values, positionals } = readArguments(
  { options: { to: { type: 'string' }, scenario: { type: 'string' } }, allowPositionals: true },
  'npm run record [-- --to FOLDER] [--scenario NAME] [ENGINE…]',
);

for (const name of positionals)
  if (!Object.hasOwn(REAL_ENGINES, name))
    exitWithUsageError(`Unknown engine "${name}". Use: ${Object.keys(REAL_ENGINES).join(', ')}.`);
const engines = Object.values(REAL_ENGINES).filter(
  ({ engine }) => positionals.length === 0 || positionals.includes(engine),
);
const scenarios = Object.values<Scenario>(SCENARIOS).filter(({ name }) => (values.scenario ?? name) === name);
if (scenarios.length === 0) exitWithUsageError(`Unknown scenario "${values.scenario}".`);

const { problems } = await installPrograms();
if (problems.length > 0) throw new Error(`The agents could not be installed: ${problems.join('\n')}`);
for (const real of engines) for (const scenario of scenarios) console.log(await record(real, scenario));

/** Runs a scenario and writes its recording; returns the folder. */
async function record(real: RealEngine, scenario: Scenario): Promise<string> {
  const { stage } = await runScenario(real, scenario);
  try {
    const label = { scenario: scenario.name, format: real.format };
    const folder = join(
      getFolder(real.engine, readInstalledVersion(real.package)),
      `${label.scenario}.${label.format}`,
    );
    writeRecording(stage.runDir, folder, label, listPlaceholders(stage));
    return folder;
  } finally {
    await stage.remove();
  }
}

function getFolder(engine: string, version: string): string {
  return values.to === undefined
    ? join(PROJECT, 'src/events/engines', engine, 'fixtures', version)
    : join(resolve(values.to), engine, version);
}

/** Lists local paths with their placeholders in recordings; longer paths first. */
function listPlaceholders({ root, runDir, workdir, model }: Stage): readonly (readonly [string, string])[] {
  return [
    [runDir, '/data/runs/01JRECORDED'],
    [workdir, '/workspace'],
    // Some agents write it relative to the root, or name folders after it.
    [workdir.slice(1), 'workspace'],
    [workdir.replaceAll(/[^A-Za-z\d]/gu, '-'), '-workspace'],
    [join(root, 'home'), '/home/user'],
    [root, '/data'],
    [join(PROJECT, 'test/real/node_modules'), '/usr/local/lib/node_modules'],
    [model.url, 'http://127.0.0.1:4010'],
  ];
}
