/**
 * The long forms of the random campaigns: `npm run torture [-- --damages 10000] [--rounds 10] [--seconds 60]
 * [--only WORDS]`. Every round of a property has a seed of its own. Prints what it did and writes nothing; `docs/reliability.md` has the last
 * figures.
 */
import { parseArgs } from 'node:util';
import { PROJECT, runTool } from './run-tool.js';
import { ENGINE_NAMES } from '../src/events/index.js';

const { values } = parseArgs({
  options: {
    damages: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '60' },
    only: { type: 'string', default: '' },
  },
});
const damagesPerEngine = Math.ceil(Number(values.damages) / ENGINE_NAMES.length);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
if (!(damagesPerEngine > 0 && rounds > 0 && seconds > 0))
  throw new Error('--damages, --rounds and --seconds must be numbers above 0');

const STORE_KILLS = 20;
const RUN_KILLS = 50;
const MODEL_RUNS = 1000;
const SERVER_KILLS = 20;
const LEAD_KILLS = 100;
const HTTP_KILLS = 50;
const REQUESTS = 10_000;
const WORKERS = 4;
const ORDERS = 2000;

/** What is done in one round: a selection of test files, and how often. */
interface Campaign {
  readonly name: string;
  /** The part of the tests the files belong to; `source` by default. */
  readonly project?: string;
  readonly files: readonly string[];
  readonly rounds: number;
}

const CAMPAIGNS: readonly Campaign[] = [
  {
    name: `${damagesPerEngine * ENGINE_NAMES.length} random damages and ${Math.floor(damagesPerEngine / 10) * ENGINE_NAMES.length} random chunkings of the recordings of ${ENGINE_NAMES.length} engines`,
    files: ['src/events/engines'],
    rounds: 1,
  },
  { name: 'framer, terminal and translator', files: ['src/events/framing', 'src/events/terminal'], rounds },
  {
    name: 'reader, parse, repairJson, streams',
    files: ['src/json/properties', 'src/json/reader', 'src/json/stream'],
    rounds,
  },
  {
    name: 'validators against each other, aligner',
    files: [
      'src/json-schema/validators-agree',
      'src/json-schema/align/align.properties',
      'src/json-schema/linear-pattern',
    ],
    rounds,
  },
  {
    name: `SQLite: ${STORE_KILLS} writers killed, ${MODEL_RUNS} histories beside the store in memory, the fence race for ${seconds} s`,
    files: ['src/store/sqlite'],
    rounds: 1,
  },
  {
    name: `PostgreSQL: the same, and the server killed ${SERVER_KILLS} times`,
    project: 'postgres',
    files: ['src/store/postgres', 'test/postgres/server-killed'],
    rounds: 1,
  },
  {
    name: `${WORKERS} workers on PostgreSQL, ${ORDERS} orders, a worker killed every second`,
    project: 'postgres',
    files: ['test/postgres/workers-killed'],
    rounds: 1,
  },
  {
    name: `a lead on SQLite killed ${LEAD_KILLS} times while it submits, replaces, runs, settles and delivers`,
    files: ['src/dispatch/lead-killed'],
    rounds: 1,
  },
  {
    name: `a server killed ${HTTP_KILLS} times under runs, orders, replies, decisions and readers`,
    files: ['src/server/server-killed'],
    rounds: 1,
  },
  { name: `${REQUESTS} random requests to a server`, files: ['src/server/fuzz'], rounds: 1 },
  {
    name: `a Sluice with runs going on, killed ${RUN_KILLS} times`,
    files: ['src/runs/scenarios/kill.test'],
    rounds: 1,
  },
  { name: 'writers of the run folder, killed', files: ['src/audit/log-file', 'src/audit/attempt-chunks'], rounds },
];

// Each is read by one campaign only.
process.env['DAMAGE_RUNS'] = String(damagesPerEngine);
process.env['STORE_KILLS'] = String(STORE_KILLS);
process.env['MODEL_RUNS'] = String(MODEL_RUNS);
process.env['RACE_SECONDS'] = String(seconds);
process.env['LEAD_KILLS'] = String(LEAD_KILLS);
process.env['RUN_KILLS'] = String(RUN_KILLS);
process.env['SERVER_KILLS'] = String(HTTP_KILLS);
process.env['REQUESTS'] = String(REQUESTS);
process.env['PG_KILLS'] = String(SERVER_KILLS);
process.env['WORKERS'] = String(WORKERS);
process.env['ORDERS'] = String(ORDERS);
process.env['WORKER_KILLS'] = String(ORDERS);
process.env['CAMPAIGN'] = '1';
process.env['RANDOM_SEEDS'] = '1';
let failures = 0;
for (const campaign of CAMPAIGNS.filter(({ name }) => name.includes(values.only))) {
  const { passed, failed, took } = await runCampaign(campaign);
  failures += failed;
  console.log(
    `${campaign.name}: ${campaign.rounds} round${campaign.rounds === 1 ? '' : 's'}, ${passed} passed, ${failed} failed, ${took} s`,
  );
}
console.log(failures === 0 ? 'nothing broke' : `${failures} failures: each printed its seed above`);
process.exitCode = failures === 0 ? 0 : 1;

async function runCampaign({ project = 'source', files, rounds: times }: Campaign) {
  const start = performance.now();
  let passed = 0;
  let failed = 0;
  for (let round = 0; round < times; round++) {
    const { stdout, stderr } = await runTool('tsx', ['scripts/test.ts', '--project', project, ...files], PROJECT);
    const [, good, bad] = /(\d+) passed, (\d+) failed[^\n]*\n*$/.exec(stdout) ?? [];
    passed += Number(good ?? 0);
    failed += Number(bad ?? 1);
    if (bad !== '0') console.error(`${stdout}${stderr}`);
    for (const [line] of stdout.matchAll(/^campaign: .*$/gm)) console.log(line);
  }
  return { passed, failed, took: Math.round((performance.now() - start) / 1000) };
}
