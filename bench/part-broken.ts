import { isDeepStrictEqual } from 'node:util';
import { DEFECTS, writeBroken, writeClean, type Damage } from './break-json.js';
import { makeFindings, makePlaces } from './findings.js';
import { judgePeers, type JudgedPeer } from './judge-peers.js';
import { compare, type Timing } from './measure.js';
import { atMost, milliseconds, times, type BarGroup, type PartResult, type Target } from './part-result.js';
import { availablePeers, loadPeers, type Peer } from './peers.js';
import { parse, repairJson } from './product.js';
import { Random } from './random.js';

interface Sample extends Damage {
  readonly name: string;
  readonly make: typeof makeFindings | typeof makePlaces;
}

/**
 * The texts with targets: some defects in each finding, all of them in every one, and short ones written as JavaScript
 * would write them, each with a comma too many.
 */
const MIXES: readonly Sample[] = [
  { name: 'mixed', make: makeFindings, defects: DEFECTS, probability: 0.3, layout: 'indented' },
  { name: 'dense', make: makeFindings, defects: DEFECTS, probability: 1, layout: 'lines' },
  {
    name: 'short',
    make: makePlaces,
    defects: ['trailing_comma', 'unquoted_key'],
    probability: 1,
    layout: 'lines',
  },
];
/** One defect at a time, to see which one costs. */
const SINGLE: readonly Sample[] = DEFECTS.map((defect) => ({
  name: defect,
  make: makeFindings,
  defects: [defect],
  probability: 0.5,
  layout: 'indented',
}));

interface Outcome {
  readonly sample: Sample;
  readonly timings: ReadonlyMap<string, Timing>;
  readonly verdicts: ReadonlyMap<string, string>;
}

/** Broken JSON: what a repair costs. */
export async function runBroken(): Promise<PartResult> {
  const names = await availablePeers();
  const peers = await loadPeers(names);
  const jsonrepair = peers.filter((peer) => peer.name === 'jsonrepair');
  const outcomes: Outcome[] = [];
  for (const sample of MIXES) outcomes.push(await runSample(sample, peers));
  for (const sample of SINGLE) outcomes.push(await runSample(sample, jsonrepair));
  const mixes = outcomes.slice(0, MIXES.length);
  return {
    title: 'Broken JSON',
    targets: mixes.flatMap(listTargets),
    tables: [
      {
        title: 'Broken 100 KB, multiples of JSON.parse on the corrected text',
        columns: ['', ...mixes.map(({ sample }) => sample.name)],
        rows: ['JSON.parse', 'parse', 'repairJson', ...names].map((tool) => [
          toolName(tool),
          ...mixes.map((outcome) => describe(outcome, tool)),
        ]),
      },
      {
        title: 'One defect at a time, in half of the findings',
        columns: ['', 'parse', 'repairJson', 'jsonrepair'],
        rows: outcomes
          .slice(MIXES.length)
          .map((outcome) => [
            outcome.sample.name,
            ...['parse', 'repairJson', 'jsonrepair'].map((tool) => describe(outcome, tool)),
          ]),
      },
    ],
    groups: mixes.map(createGroup),
  };
}

async function runSample(sample: Sample, peers: readonly Peer[]): Promise<Outcome> {
  const meant = sample.make(100_000, 2, (value) =>
    sample.layout === 'lines' ? JSON.stringify(value) : JSON.stringify(value, null, 2),
  );
  const text = writeBroken(meant.findings, sample, new Random(3));
  const clean = writeClean(meant.findings, sample.layout);
  const judged: JudgedPeer[] = await judgePeers(
    [
      { name: 'parse', read: readValue, run: readValue },
      { name: 'repairJson', read: (broken) => JSON.parse(repairJson(broken)) as unknown, run: repairJson },
      ...peers,
    ],
    text,
    meant,
  );
  const base = { name: 'JSON.parse', run: () => JSON.parse(clean) as unknown };
  if (!isDeepStrictEqual(JSON.parse(clean), meant)) throw new Error('the corrected text is not what was meant');
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

function listTargets({ sample, timings, verdicts }: Outcome): Target[] {
  const getRatio = (name: string): number => timings.get(name)?.ratio ?? Number.NaN;
  return ['parse', 'repairJson'].flatMap((name): Target[] => {
    const gain = getRatio('jsonrepair') / getRatio(name);
    const right = verdicts.get(name) === 'right';
    const what = `${name}, ${sample.name} defects, 100 KB${right ? '' : ` (${verdicts.get(name) ?? ''})`}`;
    const cost = atMost(what, getRatio(name), 8, 'JSON.parse on the corrected text');
    return [
      { ...cost, met: cost.met && right },
      { what, limit: '≥ 10 × faster than jsonrepair', measured: times(gain), met: gain >= 10 && right },
    ];
  });
}

function describe({ timings, verdicts }: Outcome, tool: string): string {
  const timing = timings.get(tool);
  const verdict = verdicts.get(tool) ?? '';
  if (timing === undefined) return verdict;
  if (tool === 'JSON.parse') return `1 (${milliseconds(timing.milliseconds)})`;
  return verdict === 'right' ? times(timing.ratio) : `${times(timing.ratio)}, ${verdict}`;
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

function toolName(tool: string): string {
  return tool === 'parse' || tool === 'repairJson' ? `**Sluice \`${tool}\`**` : tool;
}
