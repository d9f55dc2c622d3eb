import { describe, expect, it } from 'vitest';
import type { Emitted } from '../protocol/translator-output.js';
import { renderTranscript } from './transcript.contract.js';
import { codex, translateLines } from './translate-lines.contract.js';

const { emitted } = translateLines({
  stdout: [codex.thread(), codex.command('started', 'item_0'), codex.command('completed', 'item_0'), 'damage'],
  end: { exitCode: 3, fsDiff: { created: ['a.md'], modified: [], deleted: [] } },
});

/** Lists the paths of all values in an event. */
function listLeaves(value: unknown, path: readonly (string | number)[]): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return [path];
  return Object.entries(value).flatMap(([key, member]) => listLeaves(member, [...path, key]));
}

/** Returns the events with the value at a path replaced or removed. */
function change(path: readonly (string | number)[], value: unknown): readonly Emitted[] {
  const copy = structuredClone(emitted) as unknown as Record<string | number, unknown>;
  const parent = path.slice(0, -1).reduce((part, key) => part[key] as typeof part, copy);
  const last = path.at(-1) ?? '';
  if (value === undefined) Reflect.deleteProperty(parent, last);
  else parent[last] = value;
  return copy as unknown as readonly Emitted[];
}

describe('a transcript', () => {
  const leaves = emitted.flatMap(({ event }, index) => listLeaves(event, [index, 'event']));

  it('shows every field and value: any change results in a different transcript', () => {
    const transcript = renderTranscript(emitted);
    expect(leaves.length).toBeGreaterThan(100);
    const isOptional = (path: readonly (string | number)[]) =>
      path.length > 3 && (path[2] === 'data' || path[2] === 'correlation');
    const changed = leaves.map((path) => [path, 'another'] as const);
    const removed = leaves.filter(isOptional).map((path) => [path, undefined] as const);
    const undetected = [...changed, ...removed].filter(
      ([path, value]) => renderTranscript(change(path, value)) === transcript,
    );
    expect(undetected).toEqual([]);
  });

  it('has a block per event, with its bytes and its FCMP event', () => {
    expect(renderTranscript(emitted)).toContain('\n#2 stdout 0–49 lifecycle.run.status\n');
    expect(renderTranscript(emitted)).toContain('\n    → #1 conversation.started\n');
  });
});
