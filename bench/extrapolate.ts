import type { Table } from './part-result.js';

/** The totals of a fleet up to a point in time. */
export interface Usage {
  readonly seconds: number;
  readonly requests: number;
  readonly requestBytes: number;
  readonly transactions: number;
  readonly walBytes: number;
  readonly databaseBytes: number;
  /** Processor seconds of the Sluice server and of PostgreSQL. */
  readonly serverCpu: number;
  readonly databaseCpu: number;
}

/** Subtracts two totals. */
export function subtract(after: Usage, before: Usage): Usage {
  const keys = Object.keys(after) as (keyof Usage)[];
  return Object.fromEntries(keys.map((key) => [key, after[key] - before[key]])) as unknown as Usage;
}

interface Simulation {
  readonly workers: number;
  readonly runs: number;
  readonly costs: { readonly idle: Usage; readonly runs: Usage; readonly active: Usage };
  readonly connections: number;
  readonly serverMegabytes: number;
  readonly events: number;
  readonly outputBytes: number;
}

const MONTH_S = 30 * 24 * 60 * 60;
const RUNS_PER_MONTH = 10_000_000;
/** The average time of an agent. */
const AGENT_S = 15 * 60;
/** A busy hour has this many times the average. */
const PEAK = 5;
/** A typical cloud's list prices in US dollars: a core for an hour, and a gigabyte of disk and of object storage for a month. */
const PRICES = { coreHour: 0.05, diskMonth: 0.115, archiveMonth: 0.023 };
/** How long the database keeps the events of runs, and the share of the bytes of a run that remains after packing. */
const RETENTION_MONTHS = 1;
const PACKED = 0.25;
const LEASE_S = 30;

/** Extrapolates a month of ten million runs from what was measured. */
export function extrapolate(simulation: Simulation): readonly Table[] {
  const { workers, runs, costs, connections, serverMegabytes, events, outputBytes } = simulation;
  const idle = divide(costs.idle, costs.idle.seconds * workers);
  // The workers' reports went on meanwhile.
  const run = divide(subtract(costs.runs, multiply(idle, costs.runs.seconds * workers)), runs);
  const renewals = (costs.active.seconds * workers) / (LEASE_S / 3);
  const renewal = divide(subtract(costs.active, multiply(idle, costs.active.seconds * workers)), renewals);
  const runsPerS = RUNS_PER_MONTH / MONTH_S;
  const renewalsPerS = (runsPerS * AGENT_S) / (LEASE_S / 3);
  const average = sum(multiply(idle, workers), multiply(run, runsPerS), multiply(renewal, renewalsPerS));
  const peak = sum(multiply(idle, workers), multiply(run, PEAK * runsPerS), multiply(renewal, renewalsPerS));
  const diskGb = (run.databaseBytes * RUNS_PER_MONTH * RETENTION_MONTHS) / 1e9;
  const archiveGb = (outputBytes * PACKED * RUNS_PER_MONTH) / 1e9;
  const cores = Math.max(2, Math.ceil(2 * peak.serverCpu)) + Math.max(2, Math.ceil(2 * peak.databaseCpu));
  const dollars = {
    cores: cores * PRICES.coreHour * (MONTH_S / 3600),
    disk: diskGb * PRICES.diskMonth,
    archive: archiveGb * PRICES.archiveMonth,
  };
  const formatUnit = (name: string, usage: Usage): string[] => [
    name,
    format(usage.requests),
    format(usage.transactions),
    formatBytes(usage.walBytes),
    `${format(usage.serverCpu * 1000)} ms`,
    `${format(usage.databaseCpu * 1000)} ms`,
  ];
  return [
    {
      title: `Unit costs: ${workers.toLocaleString('en-US')} virtual workers over HTTPS, one server, ${runs.toLocaleString('en-US')} runs of ${events} events and ${formatBytes(outputBytes)} of output, without agents; ${format(runs / costs.runs.seconds)} runs per second`,
      columns: ['', 'requests', 'transactions', 'WAL', 'server', 'PostgreSQL'],
      rows: [
        formatUnit('an idle worker, per second', idle),
        formatUnit('a run', run),
        formatUnit('a renewal', renewal),
      ],
    },
    {
      title: `Extrapolated: ${workers.toLocaleString('en-US')} workers and 10 million runs of 15 minutes per month (${format(runsPerS)} per second, ${Math.round(runsPerS * AGENT_S).toLocaleString('en-US')} active; ${PEAK} times as many starts in a busy hour)`,
      columns: ['', 'average', 'busy hour'],
      rows: [
        ['connections to PostgreSQL, per server', String(connections), String(connections)],
        ['requests per second', format(average.requests), format(peak.requests)],
        ['transactions per second', format(average.transactions), format(peak.transactions)],
        ['WAL per day', formatBytes(average.walBytes * 86_400), formatBytes(peak.walBytes * 86_400)],
        ['cores of the servers', format(average.serverCpu), format(peak.serverCpu)],
        ['cores of PostgreSQL', format(average.databaseCpu), format(peak.databaseCpu)],
        ['memory of the server', `${serverMegabytes} MB`, `${serverMegabytes} MB`],
        ['database, per month of history', `${format(diskGb)} GB`, ''],
        ['archive, per month', `${format(archiveGb)} GB`, ''],
        [
          `cost per month: ${cores} cores (twice the busy hour), disk, archive; without agents`,
          `$${format(dollars.cores)} + $${format(dollars.disk)} + $${format(dollars.archive)}`,
          '',
        ],
      ],
    },
  ];
}

function multiply(usage: Usage, factor: number): Usage {
  const keys = Object.keys(usage) as (keyof Usage)[];
  return Object.fromEntries(keys.map((key) => [key, usage[key] * factor])) as unknown as Usage;
}

function divide(usage: Usage, divisor: number): Usage {
  return multiply(usage, 1 / divisor);
}

function sum(...usages: readonly Usage[]): Usage {
  return usages.reduce((total, usage) => subtract(total, multiply(usage, -1)));
}

function format(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return Math.abs(value) >= 10 ? value.toFixed(0) : value.toPrecision(2);
}

function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, Math.abs(bytes))) / 3)));
  return `${format(bytes / 1000 ** power)} ${units[power]}`;
}
