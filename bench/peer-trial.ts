/**
 * Runs one peer on one dangerous input, in a separate process: `peer-trial.ts PEER TEXT`, started by `run-trial.ts`.
 * Prints the outcome; the parent detects a crash or a hang.
 */
import { isDeepStrictEqual } from 'node:util';
import { loadPeers } from './peers.js';
import { TRIAL_TEXTS } from './trial-texts.js';

const [peerName = '', textName = ''] = process.argv.slice(2);
const [peer] = await loadPeers([peerName]);
const text = TRIAL_TEXTS.get(textName);
if (peer === undefined || text === undefined) throw new Error(`Unknown trial: ${peerName}, ${textName}.`);

const content = text.make();
process.stdout.write('ready\n');
try {
  const value = await peer.read(content);
  process.stdout.write(isRight(value) ? 'ok\n' : 'wrong\n');
} catch (error) {
  const overflow = error instanceof RangeError && error.message.includes('call stack');
  process.stdout.write(overflow ? 'crash\n' : 'refuses\n');
}

function isRight(value: unknown): boolean {
  if (text?.depth !== undefined) return measureDepth(value) === text.depth;
  return text?.value === undefined || isDeepStrictEqual(value, text.value);
}

function measureDepth(value: unknown): number {
  let depth = 0;
  for (let inner: unknown = value; typeof inner === 'object' && inner !== null; depth++)
    inner = Object.values(inner)[0];
  return depth;
}
