import type { EventWriter } from './event-writer.js';
import type { FileTouches } from './file-touches.js';
import type { FsDiff } from './protocol/fs-diff.js';

const CHANGES = ['created', 'modified', 'deleted'] as const;

/** Tells which files the attempt changed, and which tool call did it. Our own records are no artifacts. */
export function writeArtifacts(writer: EventWriter, touches: FileTouches, fsDiff: FsDiff): void {
  for (const change of CHANGES) {
    for (const path of fsDiff[change]) {
      const plain = path.replaceAll('\\', '/').replace(/^\.\//u, '');
      if (plain === '' || plain.split('/').includes('.audit')) continue;
      const madeBy = touches.whoMade(plain, change);
      writer.write(
        `artifact.${change}`,
        { path: plain, made_by: madeBy },
        madeBy === null ? {} : { tool_call_id: madeBy.tool_call_id },
      );
    }
  }
}
