import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * A peer's outcome: `ok` a value (the right one, if defined), `crash` including a stack overflow, `memory` over the
 * limit.
 */
export type TrialOutcome = 'ok' | 'wrong' | 'refuses' | 'crash' | 'hang' | 'memory';

const TIME_OUT = 5000;
const MEMORY_LIMIT = 1_500_000_000;
const PROGRAM = fileURLToPath(new URL('peer-trial.ts', import.meta.url));

/**
 * Runs a peer on a dangerous input in a separate process, with limits on time (from the start of parsing) and memory.
 */
export async function runTrial(peer: string, text: string): Promise<TrialOutcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--max-old-space-size=1024', '--import', 'tsx', PROGRAM, peer, text], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let printed = '';
    let stopped: TrialOutcome | undefined;
    let deadline: NodeJS.Timeout | undefined;
    const stop = (outcome: TrialOutcome): void => {
      stopped ??= outcome;
      child.kill('SIGKILL');
    };
    const watch = setInterval(() => {
      if (readResidentBytes(child.pid) > MEMORY_LIMIT) stop('memory');
    }, 100);
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk;
      if (printed.startsWith('ready\n')) deadline ??= setTimeout(stop, TIME_OUT, 'hang');
    });
    child.on('error', reject);
    child.on('close', () => {
      clearInterval(watch);
      clearTimeout(deadline);
      const outcome = printed.trimEnd().split('\n')[1];
      if (!printed.startsWith('ready\n')) reject(new Error(`The trial of ${peer} on ${text} did not start.`));
      else resolve(outcome === 'ok' || outcome === 'wrong' || outcome === 'refuses' ? outcome : (stopped ?? 'crash'));
    });
  });
}

/**
 * Returns a process's resident memory; 0 if the system does not report it, in which case only the engine's heap limit
 * applies.
 */
function readResidentBytes(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid ?? ''}/status`, 'utf8');
    return 1024 * Number(/VmRSS:\s*(\d+)/.exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
