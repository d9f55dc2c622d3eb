import type { FileTouches } from '../attempt/file-touches.js';
import type { EventWriter } from '../mapping/event-writer.js';
import type { FsDiff } from '../protocol/fs-diff.js';
import { findMakers } from './find-makers.js';

const CHANGES = ['created', 'modified', 'deleted'] as const;

/** Tells which files the attempt changed, and which tool call did it. Our own records are no artifacts. */
export function writeArtifacts(writer: EventWriter, touches: FileTouches, fsDiff: FsDiff): void {
  const changes = CHANGES.flatMap((change) => fsDiff[change].map((path) => ({ change, path: plain(path) })));
  const artifacts = changes.filter(({ path }) => path !== '' && !path.split('/').includes('.audit'));
  const makerOf = findMakers(touches.all, new Set(artifacts.map(({ path }) => path)));
  for (const { change, path } of artifacts) {
    const madeBy = makerOf(path, change);
    const subject = madeBy === null ? {} : { tool_call_id: madeBy.tool_call_id };
    writer.write(`artifact.${change}`, { path, made_by: madeBy }, subject);
  }
}

function plain(path: string): string {
  return path.replaceAll('\\', '/').replace(/^\.\//u, '');
}
