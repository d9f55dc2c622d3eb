import { readFileSync } from 'node:fs';
import { listPids } from './process-group.js';
import { readProcessStat } from './process-identity.js';
import { RUN_MARKER } from './process-record.js';

/** A process of a run, found by the environment it was started with. */
export interface MarkedProcess {
  readonly pid: number;
  readonly startTicks: string;
  readonly runDir: string;
}

/**
 * Finds all running processes of these runs on Linux, also those that left their group and session; elsewhere none. Our
 * own process and those above it are never among them: Sluice may itself be started by an agent.
 */
export function findMarkedProcesses(runDirs: ReadonlySet<string>): MarkedProcess[] {
  if (process.platform !== 'linux' || runDirs.size === 0) return [];
  const spared = listAncestors();
  const found: MarkedProcess[] = [];
  for (const pid of listPids()) {
    if (spared.has(pid)) continue;
    const runDir = readMarker(pid);
    if (runDir === undefined || !runDirs.has(runDir)) continue;
    const stat = readProcessStat(pid);
    if (stat !== undefined && !stat.isZombie) found.push({ pid, startTicks: stat.startTicks, runDir });
  }
  return found;
}

function readMarker(pid: number): string | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    // Gone, or somebody else's: then it was not started by us.
    return undefined;
  }
  const start = text.startsWith(`${RUN_MARKER}=`) ? 0 : text.indexOf(`\0${RUN_MARKER}=`) + 1;
  if (start === 0 && !text.startsWith(`${RUN_MARKER}=`)) return undefined;
  const end = text.indexOf('\0', start);
  return text.slice(start + RUN_MARKER.length + 1, end === -1 ? undefined : end);
}

function listAncestors(): Set<number> {
  const ancestors = new Set<number>();
  for (let pid = process.pid; pid > 0 && !ancestors.has(pid); pid = readProcessStat(pid)?.parent ?? 0) {
    ancestors.add(pid);
  }
  return ancestors;
}
