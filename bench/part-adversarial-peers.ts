import { ADVERSARIAL_INPUTS } from './adversarial-inputs.js';
import type { PartResult } from './part-result.js';
import { listAvailablePeers } from './peers.js';
import { runTrial } from './run-trial.js';

/** Runs the malicious inputs through the peers, each in a separate process. */
export async function runAdversarialPeers(): Promise<PartResult> {
  const peers = await listAvailablePeers();
  const rows: string[][] = [];
  for (const { name } of ADVERSARIAL_INPUTS) {
    console.error(`  ${name}`);
    const row = [`\`${name}\``];
    for (const peer of peers) row.push(await runTrial(peer, name));
    rows.push(row);
  }
  const title = 'One run, at most 5 s and 1.5 GB; `ok` is a value, `crash` also a stack overflow';
  return {
    title: 'Adversarial input: peers',
    targets: [],
    tables: [{ title, columns: ['', ...peers], rows }],
    groups: [],
  };
}
