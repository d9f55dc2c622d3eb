/**
 * The bench: `npm run bench [-- --only a,b]`. Compares the built package with its peers, as ratios in one process, and
 * writes `RESULTS.md` and `results.svg`. Parts that are not run keep their last results.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { exitWithUsageError } from '../scripts/read-arguments.js';
import { chooseParts } from './choose-parts.js';
import type { PartResult } from './part-result.js';
import { renderChart } from './render-chart.js';
import { renderResults, type RecordedPart } from './render-results.js';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

/** Loaded one by one, after the peers are installed. */
const PARTS: Readonly<Record<string, () => Promise<PartResult>>> = {
  a: async () => (await import('./part-valid.js')).runValid(),
  b: async () => (await import('./part-broken.js')).runBroken(),
  c: async () => (await import('./part-prose.js')).runProse(),
  d: async () => (await import('./part-adversarial.js')).runAdversarial(),
  p: async () => (await import('./part-adversarial-peers.js')).runAdversarialPeers(),
  e: async () => (await import('./part-streaming.js')).runStreaming(),
  m: async () => (await import('./part-middleware.js')).runMiddleware(),
  f: async () => (await import('./part-size.js')).runSize(),
  g: async () => (await import('./part-events.js')).runEvents(),
  k: async () => (await import('./part-acp.js')).runAcp(),
  i: async () => (await import('./part-runs.js')).runRuns(),
  x: async () => (await import('./part-sandbox.js')).runSandbox(),
  s: async () => (await import('./part-store.js')).runStore(),
  q: async () => (await import('./part-queue.js')).runQueue(),
  r: async () => (await import('./part-orders.js')).runOrders(),
  l: async () => (await import('./part-workers.js')).runWorkers(),
  o: async () => (await import('./part-event-storage.js')).runEventStorage(),
  u: async () => (await import('./part-maintenance.js')).runMaintenance(),
  v: async () => (await import('./part-sse.js')).runSse(),
  t: async () => (await import('./part-server.js')).runServerPart(),
  w: async () => (await import('./part-console.js')).runConsole(),
  n: async () => (await import('./part-simulation.js')).runSimulation(),
  h: async () => (await import('./part-events-memory.js')).runEventsMemory(),
};

/** Measured only if `--only` names them: they take minutes, and their results hardly change. */
const SLOW_PARTS = ['h', 'n'];

const defaults = Object.keys(PARTS).filter((name) => !SLOW_PARTS.includes(name));
const choice = chooseParts(process.argv.slice(2), Object.keys(PARTS), defaults);
if ('problem' in choice) exitWithUsageError(choice.problem);
const { parts: selectedParts } = choice;

if (!existsSync(`${FOLDER}node_modules`)) {
  console.error('installing the peers');
  // Uses the lock file without changing it; `npm ci` would refuse a lock file without the binaries of every platform.
  execFileSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: FOLDER,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
}

await mkdir(`${FOLDER}results`, { recursive: true });
for (const [name, run] of Object.entries(PARTS).filter(([part]) => selectedParts.includes(part))) {
  console.error(`part ${name}`);
  const storedResults: RecordedPart = { result: await run(), environment: describeEnvironment() };
  await writeFile(`${FOLDER}results/${name}.json`, `${JSON.stringify(storedResults, null, 2)}\n`);
  for (const { what, limit, measured, met } of storedResults.result.targets)
    console.log(`${met ? 'met   ' : 'MISSED'} ${what}: ${measured} (${limit})`);
}

const parts: RecordedPart[] = [];
for (const name of Object.keys(PARTS)) {
  if (existsSync(`${FOLDER}results/${name}.json`))
    parts.push(JSON.parse(await readFile(`${FOLDER}results/${name}.json`, 'utf8')) as RecordedPart);
}
await writeFile(`${FOLDER}RESULTS.md`, renderResults(parts));
await writeFile(`${FOLDER}results.svg`, renderChart(parts.flatMap(({ result }) => result.groups)));

function describeEnvironment(): string {
  const [first] = cpus();
  const date = new Date().toISOString().slice(0, 10);
  // Other processes might have used the host: the load shows how reliable a time is.
  const load = Math.round(loadavg()[0] ?? 0);
  return `${date}, Node.js ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${first?.model.trim() ?? 'unknown processor'}, load ${load}`;
}
