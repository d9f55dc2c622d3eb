import { isDeepStrictEqual } from 'node:util';
import { DEFECTS, writeBroken, writeClean, writeNearlyClean, type Damage, type Defect } from './break-json.js';
import { makeFindings, makeShortFindings } from './findings.js';
import { judgePeers, type JudgedPeer } from './judge-peers.js';
import { compare, type Timing } from './measure.js';
import { atMost, formatMs, formatRatio, type BarGroup, type PartResult, type Target } from './part-result.js';
import { listAvailablePeers, loadPeers, type Peer } from './peers.js';
import { parse, repairJson } from './product.js';
import { Random } from './random.js';

interface Sample extends Damage {
  readonly name: string;
  /** The maximum `parse` time, in multiples of `JSON.parse`. Default 8. */
  readonly limit?: number;
  readonly make: typeof makeFindings | typeof makeShortFindings;
}

/**
 * The inputs with targets: some defects in each finding, all defects in every finding, and short findings in JavaScript
 * style, each with an extra comma.
 */
const MIXES: readonly Sample[] = [
  { name: 'mixed', make: makeFindings, defects: DEFECTS, probability: 0.3, layout: 'indented' },
  { name: 'dense', limit: 6, make: makeFindings, defects: DEFECTS, probability: 1, layout: 'lines' },
  {
    name: 'short',
    make: makeShortFindings,
    defects: ['trailing_comma', 'unquoted_key'],
    probability: 1,
    layout: 'lines',
  },
];
/** One defect at a time, to see the cost of each. */
const SINGLE: readonly Sample[] = DEFECTS.map((defect) => ({
  name: defect,
  make: makeFindings,
  defects: [defect],
  probability: 0.5,
  layout: 'indented',
}));

/** An input of 120 KB with few damaged findings. */
interface NearlyClean extends Pick<Sample, 'name' | 'make' | 'layout'> {
  readonly write: (findings: Parameters<typeof writeNearlyClean>[0]) => string;
  /** The maximum `parse` time, in multiples of `JSON.parse`. */
  readonly limit: number;
}

const FEW: readonly NearlyClean[] = [
  ...[1, 10, 100].map((count) => createNearlyClean('trailing_comma', count)),
  ...DEFECTS.filter((defect) => defect !== 'trailing_comma').map((defect) => createNearlyClean(defect, 10)),
];

function createNearlyClean(defect: Defect, count: number): NearlyClean {
  const layout = 'lines';
  return {
    name: `${count} × ${defect}`,
    make: makeFindings,
    layout,
    write: (findings) => writeNearlyClean(findings, { defect, count, layout }),
    limit: count > 10 ? 8 : 2.5,
  };
}

interface Outcome {
  readonly sample: Pick<Sample, 'name'> & { readonly limit?: number };
  readonly timings: ReadonlyMap<string, Timing>;
  readonly verdicts: ReadonlyMap<string, string>;
}

/** Measures the cost of repairs in broken JSON. */
export async function runBroken(): Promise<PartResult> {
  const names = await listAvailablePeers();
  const peers = await loadPeers(names);
  const jsonrepair = peers.filter((peer) => peer.name === 'jsonrepair');
  const outcomes: Outcome[] = [];
  for (const sample of MIXES) outcomes.push(await runSample(sample, peers));
  for (const sample of SINGLE) outcomes.push(await runSample(sample, jsonrepair));
  const mixes = outcomes.slice(0, MIXES.length);
  const few: Outcome[] = [];
  for (const sample of FEW) few.push(await runSample(sample, jsonrepair));
  return {
    title: 'Broken JSON',
    targets: [...mixes.flatMap(listTargets), ...few.map(createFewTarget)],
    tables: [
      {
        title: 'Broken 100 KB, multiples of JSON.parse on the corrected text',
        columns: ['', ...mixes.map(({ sample }) => sample.name)],
        rows: ['JSON.parse', 'parse', 'repairJson', ...names].map((tool) => [
          formatToolName(tool),
          ...mixes.map((outcome) => describe(outcome, tool)),
        ]),
      },
      {
        title: 'One defect at a time, in half of the findings',
        columns: ['', 'parse', 'repairJson', 'jsonrepair'],
        rows: outcomes.slice(MIXES.length).map(writeRow),
      },
      {
        title: 'Few defects in 120 KB, by the number of damaged findings',
        columns: ['', 'parse', 'repairJson', 'jsonrepair'],
        rows: few.map(writeRow),
      },
    ],
    groups: mixes.map(createGroup),
  };
}

function writeRow(outcome: Outcome): string[] {
  return [outcome.sample.name, ...['parse', 'repairJson', 'jsonrepair'].map((tool) => describe(outcome, tool))];
}

async function runSample(sample: Sample | NearlyClean, peers: readonly Peer[]): Promise<Outcome> {
  const intended = sample.make('write' in sample ? 120_000 : 100_000, 2, (value) =>
    sample.layout === 'lines' ? JSON.stringify(value) : JSON.stringify(value, null, 2),
  );
  const text =
    'write' in sample ? sample.write(intended.findings) : writeBroken(intended.findings, sample, new Random(3));
  const clean = writeClean(intended.findings, sample.layout);
  const judged: JudgedPeer[] = await judgePeers(
    [
      { name: 'parse', read: readValue, run: readValue },
      { name: 'repairJson', read: (broken) => JSON.parse(repairJson(broken)) as unknown, run: repairJson },
      ...peers,
    ],
    text,
    intended,
  );
  const base = { name: 'JSON.parse', run: () => JSON.parse(clean) as unknown };
  if (!isDeepStrictEqual(JSON.parse(clean), intended))
    throw new Error('The corrected text does not have the intended value.');
  const timings = await compare([base, ...judged.flatMap(({ subject }) => subject ?? [])]);
  return {
    sample,
    timings: new Map(timings.map((timing) => [timing.name, timing])),
    verdicts: new Map(judged.map(({ name, verdict }) => [name, verdict])),
  };
}

function readValue(text: string): unknown {
  const result = parse(text);
  if (!result.ok) throw new Error(result.status);
  return result.value;
}

function listTargets(outcome: Outcome): Target[] {
  const what = `${outcome.sample.name} defects, 100 KB`;
  return ['parse', 'repairJson'].map((tool) =>
    createTarget(outcome, tool, what, tool === 'parse' ? (outcome.sample.limit ?? 8) : 8),
  );
}

function createFewTarget(outcome: Outcome): Target {
  const { name, limit = 8 } = outcome.sample;
  return createTarget(outcome, 'parse', `${name} in 120 KB`, limit);
}

function createTarget({ timings, verdicts }: Outcome, tool: string, what: string, limit: number): Target {
  const verdict = verdicts.get(tool) ?? '';
  const isRight = verdict === 'right';
  const ratio = timings.get(tool)?.ratio ?? Number.NaN;
  const name = `${tool}, ${what}${isRight ? '' : ` (${verdict})`}`;
  const cost = atMost(name, ratio, limit, 'JSON.parse on the corrected text');
  return { ...cost, met: cost.met && isRight };
}

function describe({ timings, verdicts }: Outcome, tool: string): string {
  const timing = timings.get(tool);
  const verdict = verdicts.get(tool) ?? '';
  if (timing === undefined) return verdict;
  if (tool === 'JSON.parse') return `1 (${formatMs(timing.milliseconds)})`;
  return verdict === 'right' ? formatRatio(timing.ratio) : `${formatRatio(timing.ratio)}, ${verdict}`;
}

function createGroup({ sample, timings, verdicts }: Outcome): BarGroup {
  const bars = [...timings.values()].filter(({ name }) => name !== 'JSON.parse');
  return {
    title: `broken 100 KB, ${sample.name} defects`,
    base: 'JSON.parse on the corrected text',
    limit: 8,
    bars: bars.map(({ name, ratio }) =>
      verdicts.get(name) === 'right' ? { name, ratio } : { name, ratio, note: verdicts.get(name) ?? '' },
    ),
  };
}

function formatToolName(tool: string): string {
  return tool === 'parse' || tool === 'repairJson' ? `**Sluice \`${tool}\`**` : tool;
}
