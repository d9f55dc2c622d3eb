import { isDeepStrictEqual } from 'node:util';
import { compare } from './measure.js';
import { atMost, formatMs, formatRatio, type BarGroup, type PartResult, type Target } from './part-result.js';
import { listAvailablePeers } from './peers.js';
import { parse } from './product.js';
import { VERDICT } from './prose.js';
import { runTrial } from './run-trial.js';
import { PROSE_TRIALS, TRIAL_TEXTS } from './trial-texts.js';

const LIMIT = 5;

/** Measures finding one unfenced object in long input, compared with reading every character. */
export async function runProse(): Promise<PartResult> {
  const peers = await listAvailablePeers();
  const targets: Target[] = [];
  const groups: BarGroup[] = [];
  const rows: string[][] = [['**Sluice `parse`**'], ...peers.map((peer) => [peer])];
  for (const name of PROSE_TRIALS) {
    const text = TRIAL_TEXTS.get(name)?.make() ?? '';
    const result = parse(text);
    const found = result.ok && isDeepStrictEqual(result.value, VERDICT);
    const [, own] = await compare([
      { name: 'loop', run: () => sumCharCodes(text) },
      { name: 'parse', run: () => parse(text) },
    ]);
    const ratio = own?.ratio ?? Number.NaN;
    if (name !== PROSE_TRIALS[0]) {
      const target = atMost(
        `parse, one object in ${name}${found ? '' : ' (not found)'}`,
        ratio,
        LIMIT,
        'a charCodeAt loop',
      );
      targets.push({ ...target, met: target.met && found });
      groups.push({
        title: `one object in ${name}`,
        base: 'a charCodeAt loop',
        limit: LIMIT,
        bars: [{ name: 'parse', ratio }],
      });
    }
    rows[0]?.push(
      `${found ? 'found' : 'not found'}, ${formatRatio(ratio)} (${formatMs(own?.milliseconds ?? Number.NaN)})`,
    );
    for (const [index, peer] of peers.entries()) {
      const outcome = await runTrial(peer, name);
      rows[index + 1]?.push(outcome === 'ok' ? 'found' : outcome === 'wrong' ? 'another value' : outcome);
    }
  }
  return {
    title: 'One object in prose',
    targets,
    tables: [{ title: 'One unfenced object in prose (peers: at most 5 s)', columns: ['', ...PROSE_TRIALS], rows }],
    groups,
  };
}

/** Reads every character: the minimum work of any reader. */
function sumCharCodes(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at++) sum = (sum + text.charCodeAt(at)) | 0;
  return sum;
}
