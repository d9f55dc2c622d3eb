import { ENGINE_NAMES } from '../../src/events/index.js';

/** One random campaign in its long form. */
export interface Campaign {
  readonly name: string;
  /** Prefixes of the paths of its test files. */
  readonly files: readonly string[];
  /** How often they are run; every round of a property has its own seed. */
  readonly rounds: number;
  /** Environment variables that select the long form. */
  readonly settings: Readonly<Record<string, number>>;
  /** Run only if `--only` names it, because it takes longer than all others together. */
  readonly isLong?: boolean;
}

/** The length of the campaigns. */
export interface CampaignLength {
  /** Damages of the recordings of all engines together. */
  readonly damages: number;
  readonly rounds: number;
  /** The length of the fence race. */
  readonly seconds: number;
  /** The length of the soak test. */
  readonly minutes: number;
}

const ADVERSARIAL_KILOBYTES = 1024;
const STORE_KILLS = 20;
const MODEL_RUNS = 1000;
const PG_KILLS = 20;
const WORKERS = 4;
const ORDERS = 2000;
const FLEET_WORKERS = 200;
const FLEET_PROCESSES = 4;
const FLEET_KILLS = 3;
const VIRTUAL_WORKERS = 1000;
const LEAD_KILLS = 100;
const SERVER_KILLS = 50;
const REQUESTS = 10_000;
const RUN_KILLS = 50;
const ATTACK_SECONDS = 600;
const GIT_CONFIGURATIONS = 100;
const ATTEMPT_ROUNDS = 200;
/** More than there are, so all of them. */
const HONEST_TASKS = 100;
const SCHEDULE_HISTORIES = 100;

/** All campaigns, in execution order. */
export function makeCampaigns({ damages, rounds, seconds, minutes }: CampaignLength): readonly Campaign[] {
  const engines = ENGINE_NAMES.length;
  const damagesPerEngine = Math.ceil(damages / engines);
  const storeSettings = { STORE_KILLS, MODEL_RUNS, RACE_SECONDS: seconds };
  return [
    {
      name: `${damagesPerEngine * engines} random damages and ${Math.floor(damagesPerEngine / 10) * engines} random chunkings of the recordings from ${engines} engines`,
      files: ['src/events/engines'],
      rounds: 1,
      settings: { DAMAGE_RUNS: damagesPerEngine },
    },
    {
      name: 'framer, terminal and translator',
      files: ['src/events/framing', 'src/events/terminal'],
      rounds,
      settings: {},
    },
    {
      name: 'reader, parse, repairJson, streams',
      files: ['src/json/properties', 'src/json/reader', 'src/json/stream'],
      rounds,
      settings: {},
    },
    {
      name: `adversarial input of ${ADVERSARIAL_KILOBYTES} kB`,
      files: ['src/json/adversarial-inputs'],
      rounds: 1,
      settings: { ADVERSARIAL_KILOBYTES },
    },
    {
      name: 'validators against each other, aligner',
      files: ['src/json/schema/validators-agree', 'src/json/schema/align/align.properties', 'src/json/schema/patterns'],
      rounds,
      settings: {},
    },
    {
      name: `SQLite: ${STORE_KILLS} writers killed, ${MODEL_RUNS} histories compared with the store in memory, the fence race for ${seconds} s`,
      files: ['src/store/sqlite'],
      rounds: 1,
      settings: storeSettings,
    },
    {
      name: `PostgreSQL: the same, and the server killed ${PG_KILLS} times`,
      files: ['src/store/postgres', 'test/postgres/server-killed'],
      rounds: 1,
      settings: { ...storeSettings, PG_KILLS },
    },
    {
      name: `${WORKERS} workers on PostgreSQL and over HTTPS, ${ORDERS} orders each, a worker killed every second, with servers killed, networks cut and clocks that jump`,
      files: ['test/postgres/workers-killed'],
      rounds: 1,
      settings: { WORKERS, ORDERS, WORKER_KILLS: ORDERS },
    },
    {
      name: `fleet: ${FLEET_WORKERS} workers on PostgreSQL and over HTTPS in ${FLEET_PROCESSES} processes, ${ORDERS} orders, ${FLEET_KILLS} processes killed, the database restarted`,
      files: ['test/postgres/fleet'],
      rounds: 1,
      settings: {
        FLEET_WORKERS,
        FLEET_PROCESSES,
        FLEET_KILLS,
        FLEET_ORDERS: ORDERS,
        FLEET_IDLE_S: 60,
        FLEET_LEASE_MS: 30_000,
        FLEET_RATE: 2,
      },
    },
    {
      name: `${VIRTUAL_WORKERS} workers over HTTPS, and the connections of their server`,
      files: ['test/postgres/connections'],
      rounds: 1,
      settings: { VIRTUAL_WORKERS },
    },
    {
      name: `a lead on SQLite killed ${LEAD_KILLS} times while it submits, races, replaces, runs, commits, checks, settles and delivers`,
      files: ['src/orders/dispatch/lead-killed'],
      rounds: 1,
      settings: { LEAD_KILLS },
    },
    {
      name: 'a worker killed at every store call between the end of its agent and the settlement',
      files: ['src/orders/dispatch/settle-killed'],
      rounds: 1,
      settings: { SETTLE_STEP: 1 },
    },
    {
      name: 'a store that fails on every worker call, before and after the call takes effect',
      files: ['src/orders/dispatch/store-outage'],
      rounds: 1,
      settings: { OUTAGE_STEP: 1 },
    },
    {
      name: `a server killed ${SERVER_KILLS} times under runs, orders, replies, decisions and readers`,
      files: ['src/server/server-killed'],
      rounds: 1,
      settings: { SERVER_KILLS },
    },
    {
      name: `${REQUESTS} random requests to a server`,
      files: ['src/server/fuzz'],
      rounds: 1,
      settings: { REQUESTS },
    },
    {
      name: `attacks: ${ATTACK_SECONDS} s of random patterns, schemas, inputs and half-open connections, ${GIT_CONFIGURATIONS} random git configurations, and every known attack`,
      files: [
        'src/server/attacks',
        'src/server/http/exhaustion',
        'src/server/handlers/parse',
        'src/server/security',
        'src/runs/secrets',
        'src/base/threads',
        'src/server/config',
        'src/base/files',
        'src/server/client/local-token',
        'src/cli/commands/trust',
        'src/runs/process/terminate-orphans',
        'src/runs/start-run',
        'src/runs/scenarios/sandbox-escapes',
        'src/runs/scenarios/sandbox-mounts',
        'src/orders/dispatch/false-claims',
        'src/orders/dispatch/foreign-results',
        'src/orders/dispatch/two-attempts',
        'src/orders/dispatch/configured-filters',
        'src/orders/dispatch/sandboxed-commands',
        'src/orders/dispatch/reconcile',
        'src/orders/dispatch/order/isolation',
        'src/orders/dispatch/order/base-checks',
        'src/orders/dispatch/order/steered-checks',
        'src/orders/dispatch/order/orders-by-url',
        'src/orders/git/mirror',
        'src/orders/git/read-change',
        'src/orders/git/worktree',
        'src/orders/lead/settle-masking',
        'src/orders/proof',
        'src/orders/comment',
        'src/orders/sinks/webhook-sink',
        'src/runs/archive/open-archive',
        'src/runs/capture/line-limit',
        'src/events/engines/generic/generic-engine',
        'src/server/two-servers',
        'src/server/mounts',
        'src/server/mcp/hostile-input',
        'src/server/handlers/answer-permission',
        'src/orders/dispatch/schedules',
      ],
      rounds: 1,
      settings: { ATTACK_SECONDS, GIT_CONFIGURATIONS, ATTEMPT_ROUNDS, HONEST_TASKS, SCHEDULE_HISTORIES },
    },
    {
      name: `a Sluice process with active runs, killed ${RUN_KILLS} times`,
      files: ['src/runs/scenarios/kill.campaign'],
      rounds: 1,
      settings: { RUN_KILLS },
    },
    {
      name: 'run folder writers, killed',
      files: ['src/runs/run-folder/logs/log-file', 'src/runs/run-folder/attempt/attempt-chunks'],
      rounds,
      settings: {},
    },
    {
      name: `soak: ${minutes} minutes of runs, orders and readers, with workers killed and PostgreSQL outages`,
      files: ['test/postgres/soak'],
      rounds: 1,
      settings: { SOAK_SECONDS: minutes * 60 },
      isLong: true,
    },
  ];
}
