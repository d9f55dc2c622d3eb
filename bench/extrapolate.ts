import { formatMs, type Table } from './part-result.js';

/** The resources that a site has used, in total or during a phase. */
export interface Usage {
  readonly seconds: number;
  /** Requests to the server, by workers and by the caller that submits orders. */
  readonly requests: number;
  readonly transactions: number;
  readonly walBytes: number;
  /** Processor time of the Sluice server and of PostgreSQL. */
  readonly serverMs: number;
  readonly databaseMs: number;
  readonly archiveWrites: number;
  readonly archiveReads: number;
  readonly archiveBytes: number;
}

/** The resources used in a phase, and the growth of the tables, with their indexes. */
export interface Phase {
  readonly used: Usage;
  readonly tables: readonly { readonly table: string; readonly rows: number; readonly bytes: number }[];
}

/** The time from the submission of an order to the start of its run, in milliseconds. */
export interface Starts {
  readonly p50: number;
  readonly p95: number;
}

/** The measurements of the simulation. */
interface Simulation {
  readonly workers: number;
  readonly orders: number;
  readonly ordersPerSecond: number;
  /** How often agents printed something in the phase `printing`, and what: lines, each an event of both protocols. */
  readonly steps: number;
  readonly stepLines: number;
  readonly stepBytes: number;
  /** In `orders` each order has one step; in `ends` as many orders end with all the other steps. */
  readonly phases: Readonly<Record<'idle' | 'orders' | 'renewals' | 'printing' | 'ends', Phase>>;
  readonly starts: { readonly single: Starts; readonly busy: Starts };
  readonly connections: number;
  /** Orders whose claims expired, because the host was busy. */
  readonly lost: number;
  /** The server's memory, in megabytes. */
  readonly memory: number;
}

// The assumed month. Everything else is measured.
const WORKERS = 1000;
const ORDERS_PER_MONTH = 10_000_000;
/** The time of an agent, and how often it prints something. */
const AGENT_S = 15 * 60;
const STEP_S = 10;
/** In a busy hour, orders start this many times as often as on average, and all slots are used. */
const PEAK = 5;
const SLOTS = 4 * WORKERS;
/** A claim is renewed three times per lease of 30 seconds. */
const RENEWAL_S = 10;
/** A server executes JavaScript on one core, and keeps some of it free. */
const CORES_PER_SERVER = 0.7;
/** PostgreSQL gets this many times the cores of the busy hour. */
const DATABASE_RESERVE = 2;
/** Typical list prices of a cloud, in US dollars. */
const PRICES = { coreHour: 0.05, diskGbMonth: 0.115, archiveGbMonth: 0.023, archiveWrite: 5e-6, archiveRead: 4e-7 };

const MONTH_S = 30 * 24 * 60 * 60;

/** Computes what an idle worker costs per second, a renewal, an order and a step. */
function computeUnits({ workers, orders, steps, phases }: Simulation) {
  /** Idle workers cost something in every phase. */
  const idle = divide(phases.idle.used, phases.idle.used.seconds * workers);
  const withoutIdle = ({ used }: Phase): Usage => subtract(used, multiply(idle, used.seconds * workers));
  const renewal = divide(withoutIdle(phases.renewals), (phases.renewals.used.seconds * orders) / RENEWAL_S);
  const renewalsWhilePrinting = (phases.printing.used.seconds * orders) / RENEWAL_S;
  const order = divide(withoutIdle(phases.orders), orders);
  const measuredStep = divide(subtract(withoutIdle(phases.printing), multiply(renewal, renewalsWhilePrinting)), steps);
  // A step reaches the archive when its run ends.
  const archived = (phases.ends.used.archiveBytes / orders - order.archiveBytes) / (steps / orders);
  return { idle, renewal, order, step: { ...measuredStep, archiveBytes: Math.max(0, archived) } };
}

/** Computes unit costs from what was measured, and what a month of ten million orders needs. */
export function extrapolate(simulation: Simulation): {
  readonly tables: readonly Table[];
  readonly renewalWalBytes: number;
} {
  const { workers, orders, steps, stepLines, stepBytes, phases, starts } = simulation;
  const { idle, renewal, order, step } = computeUnits(simulation);
  const stepsPerOrder = AGENT_S / STEP_S;
  const disk = sumBytes(phases.orders) / orders + ((stepsPerOrder - 1) * sumBytes(phases.printing)) / steps;
  const ordersPerS = ORDERS_PER_MONTH / MONTH_S;
  /** The load of a second with so many starts and active runs; an order includes its first step. */
  const load = (startsPerS: number, active: number): Usage =>
    [
      multiply(order, startsPerS),
      multiply(renewal, active / RENEWAL_S),
      multiply(step, active / STEP_S - startsPerS),
    ].reduce(add, multiply(idle, WORKERS));
  const average = load(ordersPerS, ordersPerS * AGENT_S);
  const busy = load(PEAK * ordersPerS, SLOTS);
  const servers = Math.max(2, Math.ceil(busy.serverMs / 1000 / CORES_PER_SERVER));
  const databaseCores = Math.max(2, Math.ceil((DATABASE_RESERVE * busy.databaseMs) / 1000));
  const diskGb = (disk * ORDERS_PER_MONTH) / 1e9;
  const archiveGb = (average.archiveBytes * MONTH_S) / 1e9;
  const dollars = {
    cores: (servers + databaseCores) * PRICES.coreHour * (MONTH_S / 3600),
    disk: diskGb * PRICES.diskGbMonth,
    archive:
      archiveGb * PRICES.archiveGbMonth +
      ORDERS_PER_MONTH * (order.archiveWrites * PRICES.archiveWrite + order.archiveReads * PRICES.archiveRead),
  };
  const total = dollars.cores + dollars.disk + dollars.archive;
  const formatUnit = (name: string, usage: Usage): string[] => [
    name,
    format(usage.requests),
    format(usage.transactions),
    formatBytes(usage.walBytes),
    `${format(usage.serverMs)} ms`,
    `${format(usage.databaseMs)} ms`,
    usage.archiveBytes === 0 ? '–' : formatBytes(usage.archiveBytes),
  ];
  const tables = [
    {
      title: `Measured: ${workers.toLocaleString('en-US')} virtual workers over HTTPS, one server, PostgreSQL, an archive; ${orders.toLocaleString('en-US')} orders without agents and sandboxes, ${simulation.lost} lost`,
      columns: [
        '',
        'requests',
        'transactions',
        'WAL between checkpoints and vacuums',
        'server',
        'PostgreSQL',
        'archive',
      ],
      rows: [
        formatUnit('an idle worker, per minute', multiply(idle, 60)),
        formatUnit('an order: submit, claim, start, first step, settle, comment, pack, upload', order),
        formatUnit('a renewal of a claim', renewal),
        formatUnit(`a step: ${stepLines} lines, ${formatBytes(stepBytes)}, ${2 * stepLines} events`, step),
      ],
    },
    {
      title: `Measured: growth of the database, with indexes; the archive gets ${format(order.archiveWrites)} writes and ${format(order.archiveReads)} reads per order`,
      columns: ['table', 'rows per order', 'bytes per order', 'bytes per step'],
      rows: phases.orders.tables.flatMap(({ table, rows, bytes }) => {
        const inSteps = phases.printing.tables.find((each) => each.table === table)?.bytes ?? 0;
        if (bytes < orders && inSteps < steps) return [];
        return [[table, format(rows / orders), format(bytes / orders), format(inSteps / steps)]];
      }),
    },
    {
      title: 'Measured: from the submission of an order to the start of its run',
      columns: ['', 'p50', 'p95'],
      rows: [
        [
          `one at a time, ${workers.toLocaleString('en-US')} idle workers`,
          formatMs(starts.single.p50),
          formatMs(starts.single.p95),
        ],
        [`${simulation.ordersPerSecond} orders per second`, formatMs(starts.busy.p50), formatMs(starts.busy.p95)],
      ],
    },
    {
      title: `Extrapolated: ${WORKERS.toLocaleString('en-US')} workers and 10 million orders per month, whose agents take ${AGENT_S / 60} minutes and print a step every ${STEP_S} seconds`,
      columns: ['', 'average', 'busy hour'],
      rows: [
        ['orders per second', format(ordersPerS), format(PEAK * ordersPerS)],
        ['active runs', format(ordersPerS * AGENT_S), format(SLOTS)],
        ['requests per second', format(average.requests), format(busy.requests)],
        ['transactions per second', format(average.transactions), format(busy.transactions)],
        ['cores of the servers', format(average.serverMs / 1000), format(busy.serverMs / 1000)],
        ['cores of PostgreSQL', format(average.databaseMs / 1000), format(busy.databaseMs / 1000)],
        [
          'WAL per day, without vacuums and the images of pages after checkpoints',
          formatBytes(average.walBytes * 86_400),
          '',
        ],
        ['database, per month of history', formatBytes(diskGb * 1e9), ''],
        ['archive, per month of history', formatBytes(archiveGb * 1e9), ''],
        [
          'servers, each with one core and the memory measured',
          '',
          `${servers} × ${simulation.memory.toLocaleString('en-US')} MB`,
        ],
        [
          `connections to PostgreSQL, ${simulation.connections} per server`,
          '',
          String(servers * simulation.connections),
        ],
        [
          `dollars per month without agents: ${servers} + ${databaseCores} cores at $${PRICES.coreHour} per hour, disk at $${PRICES.diskGbMonth} and archive at $${PRICES.archiveGbMonth} per GB, $${PRICES.archiveWrite * 1e6} per million writes`,
          `${format(dollars.cores)} + ${format(dollars.disk)} + ${format(dollars.archive)} = ${format(total)}`,
          '',
        ],
      ],
    },
  ];
  return { tables, renewalWalBytes: renewal.walBytes };
}

const sumBytes = ({ tables }: Phase): number => tables.reduce((total, { bytes }) => total + bytes, 0);

/** Subtracts usages, value by value. */
export function subtract(usage: Usage, other: Usage): Usage {
  return combine(usage, (value, key) => value - other[key]);
}

const add = (usage: Usage, other: Usage): Usage => combine(usage, (value, key) => value + other[key]);
const multiply = (usage: Usage, factor: number): Usage => combine(usage, (value) => value * factor);
const divide = (usage: Usage, divisor: number): Usage => multiply(usage, 1 / divisor);

function combine(usage: Usage, compute: (value: number, key: keyof Usage) => number): Usage {
  const entries = Object.entries(usage) as [keyof Usage, number][];
  return Object.fromEntries(entries.map(([key, value]) => [key, compute(value, key)])) as unknown as Usage;
}

function format(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return Math.abs(value) >= 10 ? value.toFixed(0) : String(Number(value.toPrecision(2)));
}

function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, Math.abs(bytes))) / 3)));
  return `${format(bytes / 1000 ** power)} ${units[power]}`;
}
