import { makeFindings } from './findings.js';
import { judgePeers } from './judge-peers.js';
import { compare, type Timing } from './measure.js';
import { atMost, formatMs, formatRatio, type PartResult } from './part-result.js';
import { listAvailablePeers, loadPeers, type Peer } from './peers.js';
import { parse } from './product.js';

const SIZES = [
  { name: '1 KB', bytes: 1000, limit: 1.2 },
  { name: '100 KB', bytes: 100_000, limit: 1.2 },
  { name: '5 MB', bytes: 5_000_000, limit: 1.2 },
] as const;

/** A peer with a higher ratio at 100 KB is not run with 5 MB. */
const MAX_RATIO_FOR_LARGE = 200;

/** Measures the overhead of `parse` on valid JSON. */
export async function runValid(): Promise<PartResult> {
  const names = await listAvailablePeers();
  let peers: readonly Peer[] = await loadPeers(names);
  const timings = new Map<string, ReadonlyMap<string, Timing>>();
  for (const { name, bytes } of SIZES) {
    const value = makeFindings(bytes, 1, JSON.stringify);
    const text = JSON.stringify(value);
    const judged = await judgePeers(peers, text, value);
    const measured = await compare([
      { name: 'JSON.parse', run: () => JSON.parse(text) as unknown },
      { name: 'parse', run: () => parse(text) },
      ...judged.flatMap(({ subject }) => subject ?? []),
    ]);
    timings.set(name, new Map(measured.map((timing) => [timing.name, timing])));
    peers = peers.filter(
      (peer) => (timings.get(name)?.get(peer.name)?.ratio ?? Infinity) < MAX_RATIO_FOR_LARGE || bytes < 100_000,
    );
  }
  const getRatio = (size: string, name: string): number => timings.get(size)?.get(name)?.ratio ?? Number.NaN;
  return {
    title: 'Valid JSON',
    targets: SIZES.map(({ name, limit }) =>
      atMost(`parse, valid ${name}`, getRatio(name, 'parse'), limit, 'JSON.parse'),
    ),
    tables: [
      {
        title: 'Valid JSON, multiples of JSON.parse',
        columns: ['', ...SIZES.map((size) => size.name)],
        rows: ['JSON.parse', 'parse', ...names].map((tool) => [
          tool === 'parse' ? '**Sluice `parse`**' : tool,
          ...SIZES.map(({ name }) => describe(timings.get(name)?.get(tool), tool)),
        ]),
      },
    ],
    groups: SIZES.map(({ name, limit }) => ({
      title: `valid JSON, ${name}`,
      base: 'JSON.parse',
      limit,
      bars: [...(timings.get(name)?.values() ?? [])]
        .filter((timing) => timing.name !== 'JSON.parse')
        .map(({ name: tool, ratio }) => ({ name: tool, ratio })),
    })),
  };
}

function describe(timing: Timing | undefined, tool: string): string {
  if (timing === undefined) return 'too slow';
  return tool === 'JSON.parse' ? `1 (${formatMs(timing.milliseconds)})` : formatRatio(timing.ratio);
}
